#include "apiserver/internal/types/selectable_fields.h"

#include <fmt/format.h>

#include <expected>
#include <set>

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kFieldsKey = "selectableFields";
constexpr std::size_t kMostFields = 8;

/// The schema at a path of names (".spec.color"), or why there is none.
std::expected<const kube::Schema*, std::string> schema_at(const kube::Schema& root,
                                                          std::string_view path) {
    const kube::Schema* schema = &root;
    while (!path.empty()) {
        if (path.front() == '[') return std::unexpected("array notation is not allowed");
        if (path.front() != '.')
            return std::unexpected(fmt::format("expected [ or . but got: {}",
                                               path.substr(0, path.find_first_of(".["))));
        path.remove_prefix(1);
        if (path.empty()) return std::unexpected("unexpected end of JSON path");
        const std::string_view name = path.substr(0, path.find_first_of(".["));
        path.remove_prefix(name.size());
        const kube::Schema* below = schema->property(name);
        if (below == nullptr) below = schema->additional.get();
        if (below == nullptr) return std::unexpected("does not refer to a valid field");
        schema = below;
    }
    return schema;
}

bool is_simple(const kube::Schema& schema) {
    using enum kube::Schema::Type;
    return schema.type == kString || schema.type == kBoolean || schema.type == kInteger;
}

}  // namespace

std::vector<std::string> selectable_fields_of(const json::object& version) {
    std::vector<std::string> fields;
    for (const json::object* field : objects_at(version, kFieldsKey)) {
        if (fields.size() == kMostFields) break;
        std::string_view path = string_at(*field, "jsonPath");
        if (path.starts_with('.')) path.remove_prefix(1);
        fields.emplace_back(path);
    }
    return fields;
}

void check_selectable_fields(const json::object& version, const kube::Schema& schema,
                             const std::string& field, FieldErrors& field_errors) {
    const std::string all = fmt::format("{}.{}", field, kFieldsKey);
    const auto fields = objects_at(version, kFieldsKey);
    std::set<std::string_view> paths;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const std::string at = fmt::format("{}[{}].jsonPath", all, i);
        const std::string_view path = string_at(*fields[i], "jsonPath");
        if (path.empty()) {
            field_errors.push_back(required(at));
            continue;
        }
        // Upstream's schemas do not say what is in the metadata.
        const bool in_metadata = path.starts_with(".metadata.");
        const auto found = in_metadata
                               ? std::unexpected<std::string>("does not refer to a valid field")
                               : schema_at(schema, path);
        if (!found)
            field_errors.push_back(invalid_value(
                at, json::value(path), fmt::format("is an invalid path: {}", found.error())));
        else if (!is_simple(**found))
            field_errors.push_back(
                invalid_value(at, json::value(path),
                              "must point to a field of type string, boolean or integer. Enum "
                              "string fields and strings with formats are allowed."));
        if (found && !paths.insert(path).second)
            field_errors.push_back(duplicate(at, json::value(path)));
    }
    if (paths.size() > kMostFields)
        field_errors.push_back(too_many(all, paths.size(), kMostFields));
}

}  // namespace muster::apiserver
