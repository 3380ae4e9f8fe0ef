#include "apiserver_http/internal/printing/custom_columns.h"

#include <fmt/format.h>

#include <boost/json/serializer.hpp>
#include <string>
#include <utility>
#include <vector>

#include "apiserver_http/internal/printing/cell_text.h"
#include "apiserver_http/internal/printing/fields.h"
#include "apiserver_http/internal/printing/printer.h"
#include "base/utf8.h"

namespace muster::apiserver_http {

namespace {

/// More of a cell is not read by a person, and each of many columns may show all of a large object.
constexpr std::size_t kMostCellBytes = 4096;

json::object definition(std::string_view name, std::string_view type, std::string_view format,
                        std::string_view description, std::int64_t priority) {
    return {{"name", name},
            {"type", type},
            {"format", format},
            {"description", description},
            {"priority", priority}};
}

/// Rounds towards zero, not to the nearest number.
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

/// The beginning of scalar_text(), which may be as long as an object: at least as much of it as a
/// cell may have and one byte more, or all of it.
std::string beginning_of(const json::value& value) {
    constexpr std::size_t kEnough = kMostCellBytes + 1;
    if (const json::string* text = value.if_string())
        return std::string(std::string_view(*text).substr(0, kEnough));
    std::string text(kEnough, '\0');
    json::serializer serializer;
    serializer.reset(&value);
    text.resize(serializer.read(text.data(), text.size()).size());
    return text;
}

json::value text_cell(const json::value& value) {
    if (value.is_null()) return nullptr;
    std::string text = beginning_of(value);
    if (text.size() <= kMostCellBytes) return json::value(text);
    text.resize(cut_utf8(text, kMostCellBytes).size());
    return json::value(text + "...");
}

/// Of several values that the path finds, the first is shown.
json::value cell(const apiserver::PrinterColumn& column, const json::value& object, WallTime now) {
    const std::vector<const json::value*> found = column.path.find(object);
    if (found.empty()) return nullptr;
    if (column.type != "string") return typed_cell(column.type, *found.front(), now);
    return text_cell(*found.front());
}

}  // namespace

json::array custom_column_definitions(const apiserver::ResourceDef& def) {
    json::array list{definition(kNameColumn.name, kNameColumn.type, kNameColumn.format,
                                kNameColumn.description, 0)};
    if (def.printer_columns.empty())
        list.push_back(definition(kAgeColumn.name, "date", "", kAgeColumn.description, 0));
    for (const apiserver::PrinterColumn& column : def.printer_columns)
        list.push_back(definition(column.name, column.type, column.format, column.description,
                                  column.priority));
    return list;
}

json::array custom_cells(const apiserver::ResourceDef& def, const json::value& object,
                         WallTime now) {
    json::array cells{name_of(object.get_object())};
    if (def.printer_columns.empty()) cells.push_back(json::value(age_of(object.get_object(), now)));
    for (const apiserver::PrinterColumn& column : def.printer_columns)
        cells.push_back(cell(column, object, now));
    return cells;
}

}  // namespace muster::apiserver_http
