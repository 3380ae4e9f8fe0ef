#include "apiserver/internal/types/printer_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kColumnsKey = "additionalPrinterColumns";
/// Each row of a Table has them all.
constexpr std::size_t kMostColumns = 200;
constexpr std::string_view kColumnTypes[] = {"boolean", "date", "integer", "number", "string"};

}  // namespace

std::vector<PrinterColumn> printer_columns_of(const json::object& version) {
    std::vector<PrinterColumn> columns;
    for (const json::object* column :
         objects_at(version, kColumnsKey) | std::views::take(kMostColumns)) {
        const std::string_view text = string_at(*column, "jsonPath");
        Result<kube::JsonPath> path = kube::JsonPath::parse(text);
        if (!path) continue;
        std::string description(string_at(*column, "description"));
        if (description.empty())
            description =
                fmt::format("Custom resource definition column (in JSONPath format): {}", text);
        columns.push_back({std::string(string_at(*column, "name")),
                           std::string(string_at(*column, "type")),
                           std::string(string_at(*column, "format")), std::move(description),
                           int_at(*column, "priority").value_or(0), *std::move(path)});
    }
    return columns;
}

void check_printer_columns(const json::object& version, const std::string& field,
                           FieldErrors& field_errors) {
    const auto columns = objects_at(version, kColumnsKey);
    if (columns.size() > kMostColumns) {
        field_errors.push_back(
            too_many(fmt::format("{}.{}", field, kColumnsKey), columns.size(), kMostColumns));
        return;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const json::object& column = *columns[i];
        const std::string at = fmt::format("{}.{}[{}]", field, kColumnsKey, i);
        if (string_at(column, "name").empty()) field_errors.push_back(required(at + ".name"));
        if (const std::string_view type = string_at(column, "type");
            std::ranges::find(kColumnTypes, type) == std::end(kColumnTypes))
            field_errors.push_back(
                invalid_value(at + ".type", json::value(type),
                              fmt::format("must be one of {}", fmt::join(kColumnTypes, ","))));
        const std::string_view path = string_at(column, "jsonPath");
        if (path.empty())
            field_errors.push_back(required(at + ".jsonPath"));
        else if (const Result<kube::JsonPath> parsed = kube::JsonPath::parse(path); !parsed)
            field_errors.push_back(
                invalid_value(at + ".jsonPath", json::value(path), parsed.error().message()));
    }
}

}  // namespace muster::apiserver
