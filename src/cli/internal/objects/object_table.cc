#include "cli/internal/objects/object_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "base/visible_text.h"
#include "kube/objects/age.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

using kube::array_at;
using kube::string_at;

constexpr std::string_view kGap = "   ";

std::string cell_text(const json::value& cell) {
    if (cell.is_null()) return {};
    if (const json::string* text = cell.if_string()) return printable_cell(*text);
    return json::serialize(cell);
}

std::string labels_text(const json::object& object) {
    const json::object* labels = kube::object_at(kube::metadata_of(object), "labels");
    if (labels == nullptr || labels->empty()) return "<none>";
    std::vector<std::string> parts;
    for (const auto& [key, value] : *labels)
        parts.push_back(fmt::format("{}={}", std::string_view(key), cell_text(value)));
    std::ranges::sort(parts);
    return fmt::format("{}", fmt::join(parts, ","));
}

void describe_object(const json::object& object, TableRow& row) {
    row.namespace_ = kube::namespace_of(object);
    row.name = kube::name_of(object);
    row.labels = labels_text(object);
}

/// Counts code points, which is the width of most texts on a terminal.
std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

void read_rows(const json::object& table, ObjectTable& result) {
    if (const json::array* columns = array_at(table, "columnDefinitions"))
        for (const json::value& column : *columns)
            if (const json::object* one = column.if_object())
                result.columns.push_back({std::string(string_at(*one, "name")),
                                          kube::int_at(*one, "priority").value_or(0) > 0});
    const json::array* rows = array_at(table, "rows");
    if (rows == nullptr) return;
    for (const json::value& value : *rows) {
        const json::object* object = value.if_object();
        const json::array* cells = object == nullptr ? nullptr : array_at(*object, "cells");
        if (cells == nullptr) continue;
        TableRow row;
        for (const json::value& cell : *cells) row.cells.push_back(cell_text(cell));
        if (const json::object* about = kube::object_at(*object, "object")) {
            describe_object(*about, row);
            // The table of a watch's event may have none of its own.
            if (result.resource_version.empty())
                result.resource_version = string_at(kube::metadata_of(*about), "resourceVersion");
        }
        result.rows.push_back(std::move(row));
    }
}

void add_plain_row(const json::value& value, WallTime now, ObjectTable& result) {
    const json::object* object = value.if_object();
    if (object == nullptr) return;
    TableRow row;
    describe_object(*object, row);
    row.cells = {row.name,
                 kube::age_text(string_at(kube::metadata_of(*object), "creationTimestamp"), now)};
    result.rows.push_back(std::move(row));
}

}  // namespace

std::string printable_cell(std::string_view text) {
    std::string cell;
    for (const char c : visible_line(text.substr(0, text.find('\n')))) {
        if (c == '\t')
            cell += "\\x09";  // it would move the columns
        else
            cell += c;
    }
    if (text.find('\n') != text.npos) cell += "...";
    return cell;
}

ObjectTable read_table(const json::value& document, WallTime now) {
    ObjectTable result;
    const json::object* root = document.if_object();
    if (root == nullptr) return result;
    const json::object& metadata = kube::metadata_of(*root);
    result.resource_version = string_at(metadata, "resourceVersion");
    result.continue_ = string_at(metadata, "continue");
    if (string_at(*root, "kind") == "Table") {
        read_rows(*root, result);
        return result;
    }
    result.columns = {{"Name", false}, {"Age", false}};
    if (const json::array* items = array_at(*root, "items"))
        for (const json::value& item : *items) add_plain_row(item, now, result);
    else
        add_plain_row(document, now, result);
    return result;
}

TableWriter::Line TableWriter::header() const {
    Line line;
    if (style_.namespaces) line.emplace_back("NAMESPACE");
    for (const ObjectTable::Column& column : columns_) {
        if (column.wide && !style_.wide) continue;
        std::string name = column.name;
        const bool plural = name.ends_with("(s)");
        for (char& c : name) {
            if (c == '(' && !plural) break;  // a unit stays as it is: CPU(cores)
            if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
        }
        line.push_back(std::move(name));
    }
    if (style_.labels) line.emplace_back("LABELS");
    return line;
}

TableWriter::Line TableWriter::line(const TableRow& row) const {
    Line line;
    if (style_.namespaces) line.push_back(row.namespace_);
    for (std::size_t i = 0; i < std::min(columns_.size(), row.cells.size()); ++i) {
        if (columns_[i].wide && !style_.wide) continue;
        line.push_back(columns_[i].name == "Name" ? style_.name_prefix + row.cells[i]
                                                  : row.cells[i]);
    }
    if (style_.labels) line.push_back(row.labels);
    return line;
}

std::string TableWriter::write(const ObjectTable& table) {
    if (!table.columns.empty()) columns_ = table.columns;
    std::vector<Line> lines;
    if (style_.header && !begun_) lines.push_back(header());
    begun_ = true;
    for (const TableRow& row : table.rows) lines.push_back(line(row));
    for (const Line& line : lines) {
        widths_.resize(std::max(widths_.size(), line.size()));
        for (std::size_t i = 0; i < line.size(); ++i)
            widths_[i] = std::max(widths_[i], width_of(line[i]));
    }
    std::string text;
    for (const Line& line : lines) {
        for (std::size_t i = 0; i < line.size(); ++i) {
            text += line[i];
            if (i + 1 == line.size()) break;
            text.append(widths_[i] - width_of(line[i]), ' ');
            text += kGap;
        }
        text += '\n';
    }
    return text;
}

}  // namespace muster::cli
