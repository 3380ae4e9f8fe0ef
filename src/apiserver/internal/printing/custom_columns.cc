#include "apiserver/internal/printing/custom_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "apiserver/internal/printing/cell_text.h"
#include "apiserver/internal/printing/fields.h"
#include "apiserver/internal/printing/printer.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kColumnsKey = "additionalPrinterColumns";
constexpr std::string_view kColumnTypes[] = {"boolean", "date", "integer", "number", "string"};

json::object definition(std::string_view name, std::string_view type, std::string_view format,
                        std::string_view description, std::int64_t priority) {
    return {{"name", name},
            {"type", type},
            {"format", format},
            {"description", description},
            {"priority", priority}};
}

/// Not the nearest whole number, but the one towards zero.
json::value whole(double number) {
    constexpr double kLimit = 9e18;
    if (!(number > -kLimit && number < kLimit)) return nullptr;
    return static_cast<std::int64_t>(number);
}

json::value typed_cell(std::string_view type, const json::value& value, WallTime now) {
    if (type == "integer") {
        if (value.is_int64() || value.is_uint64()) return value;
        if (const double* number = value.if_double()) return whole(*number);
    } else if (type == "number") {
        if (value.is_number()) return value.to_number<double>();
    } else if (type == "boolean") {
        if (value.is_bool()) return value;
    } else if (type == "date") {
        if (const json::string* text = value.if_string()) return json::value(age_text(*text, now));
    }
    return nullptr;
}

json::value cell(const PrinterColumn& column, const json::value& object, WallTime now) {
    const std::vector<const json::value*> found = column.path.find(object);
    if (found.empty()) return nullptr;
    if (column.type != "string") return typed_cell(column.type, *found.front(), now);
    std::vector<std::string> texts;
    for (const json::value* value : found)
        if (!value->is_null()) texts.push_back(scalar_text(value));
    if (texts.empty()) return nullptr;
    return json::value(joined(texts));
}

}  // namespace

std::vector<PrinterColumn> printer_columns_of(const json::object& version) {
    std::vector<PrinterColumn> columns;
    for (const json::object* column : objects_at(version, kColumnsKey)) {
        Result<kube::JsonPath> path = kube::JsonPath::parse(string_at(*column, "jsonPath"));
        if (!path) continue;
        columns.push_back({std::string(string_at(*column, "name")),
                           std::string(string_at(*column, "type")),
                           std::string(string_at(*column, "format")),
                           std::string(string_at(*column, "description")),
                           number_at(*column, "priority"), *std::move(path)});
    }
    return columns;
}

void check_printer_columns(const json::object& version, const std::string& field, Causes& causes) {
    const auto columns = objects_at(version, kColumnsKey);
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const json::object& column = *columns[i];
        const std::string at = fmt::format("{}.{}[{}]", field, kColumnsKey, i);
        if (string_at(column, "name").empty()) causes.push_back(required(at + ".name"));
        if (const std::string_view type = string_at(column, "type");
            std::ranges::find(kColumnTypes, type) == std::end(kColumnTypes))
            causes.push_back(
                invalid_value(at + ".type", json::value(type),
                              fmt::format("must be one of {}", fmt::join(kColumnTypes, ","))));
        const std::string_view path = string_at(column, "jsonPath");
        if (path.empty())
            causes.push_back(required(at + ".jsonPath"));
        else if (const Result<kube::JsonPath> parsed = kube::JsonPath::parse(path); !parsed)
            causes.push_back(
                invalid_value(at + ".jsonPath", json::value(path), parsed.error().message()));
    }
}

json::array custom_column_definitions(const ResourceDef& def) {
    json::array list{definition(kNameColumn.name, kNameColumn.type, kNameColumn.format,
                                kNameColumn.description, 0)};
    if (def.printer_columns.empty())
        list.push_back(definition(kAgeColumn.name, "date", "", kAgeColumn.description, 0));
    for (const PrinterColumn& column : def.printer_columns)
        list.push_back(definition(column.name, column.type, column.format, column.description,
                                  column.priority));
    return list;
}

json::array custom_cells(const ResourceDef& def, const json::value& object, WallTime now) {
    json::array cells{name_of(object.get_object())};
    if (def.printer_columns.empty()) cells.push_back(json::value(age_of(object.get_object(), now)));
    for (const PrinterColumn& column : def.printer_columns)
        cells.push_back(cell(column, object, now));
    return cells;
}

}  // namespace muster::apiserver
