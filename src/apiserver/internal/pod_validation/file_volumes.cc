#include "apiserver/internal/pod_validation/file_volumes.h"

#include <optional>
#include <set>

#include "apiserver/internal/pod_validation/environment.h"
#include "apiserver/internal/pod_validation/value_checks.h"
#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr std::int64_t kMostMode = 0777;
constexpr std::int64_t kShortestToken = 600;
constexpr std::int64_t kLongestToken = std::int64_t{1} << 32;

void check_mode(const json::object& of, const char* key, const std::string& field,
                FieldErrors& field_errors) {
    const auto mode = int_at(of, key);
    if (mode && (*mode < 0 || *mode > kMostMode))
        field_errors.push_back(
            invalid_value(fmt::format("{}.{}", field, key), json::value(*mode),
                          "must be a number between 0 and 0777 (octal), both inclusive"));
}

/// Names that begin with ".." are those of whoever writes the files.
void check_file_path(std::string_view path, const std::string& field, FieldErrors& field_errors) {
    if (path.empty()) {
        field_errors.push_back(required(field));
        return;
    }
    check_descending_path(path, field, field_errors);
    if (path.starts_with("..") && !path.starts_with("../"))
        field_errors.push_back(invalid_value(field, json::value(path), "must not start with '..'"));
}

void check_keys(const json::object& source, const std::string& field, FieldErrors& field_errors) {
    const auto items = objects_at(source, "items");
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string at = fmt::format("{}.items[{}]", field, i);
        if (string_at(*items[i], "key").empty()) field_errors.push_back(required(at + ".key"));
        check_file_path(string_at(*items[i], "path"), at + ".path", field_errors);
        check_mode(*items[i], "mode", at, field_errors);
    }
}

void check_downward_file(const json::object& file, const std::string& field,
                         FieldErrors& field_errors) {
    check_file_path(string_at(file, "path"), field + ".path", field_errors);
    const json::object* of_pod = object_at(file, "fieldRef");
    const json::object* resource = object_at(file, "resourceFieldRef");
    if (of_pod != nullptr)
        check_field_reference(*of_pod,
                              {"metadata.annotations", "metadata.labels", "metadata.name",
                               "metadata.namespace", "metadata.uid"},
                              field + ".fieldRef", field_errors);
    if (of_pod != nullptr && resource != nullptr)
        field_errors.push_back(
            invalid_value(field, json::value("resource"),
                          "fieldRef and resourceFieldRef can not be specified simultaneously"));
    else if (resource != nullptr)
        check_resource_reference(*resource, true, field + ".resourceFieldRef", field_errors);
    else if (of_pod == nullptr)
        field_errors.push_back(required(field, "one of fieldRef and resourceFieldRef is required"));
    check_mode(file, "mode", field, field_errors);
}

/// Upstream does not say which of the files it is.
void check_downward_files(const json::object& source, const std::string& field,
                          FieldErrors& field_errors) {
    for (const json::object* file : objects_at(source, "items"))
        check_downward_file(*file, field, field_errors);
}

void check_token(const json::object& token, const std::string& volume, const std::string& field,
                 FieldErrors& field_errors) {
    if (const auto seconds = int_at(token, "expirationSeconds")) {
        if (*seconds < kShortestToken)
            field_errors.push_back(
                invalid_value(field + ".expirationSeconds", json::value(*seconds),
                              "may not specify a duration less than 10 minutes"));
        if (*seconds > kLongestToken)
            field_errors.push_back(
                invalid_value(field + ".expirationSeconds", json::value(*seconds),
                              "may not specify a duration larger than 2^32 seconds"));
    }
    // As upstream, of the volume.
    check_file_path(string_at(token, "path"), volume + ".path", field_errors);
}

/// No two of the projected files have one path.
void check_paths(const json::object& source, std::optional<std::string_view> shown,
                 const std::string& volume, std::set<std::string_view>& paths,
                 FieldErrors& field_errors) {
    for (const json::object* item : objects_at(source, "items"))
        if (const std::string_view path = string_at(*item, "path");
            !path.empty() && !paths.insert(path).second)
            field_errors.push_back(invalid_value(volume, json::value(shown.value_or(path)),
                                                 "conflicting duplicate paths"));
}

void check_projection(const json::object& source, const std::string& volume,
                      const std::string& field, std::set<std::string_view>& paths,
                      FieldErrors& field_errors) {
    int kinds = 0;
    for (const char* key : {"secret", "configMap"}) {
        const json::object* keys = object_at(source, key);
        if (keys == nullptr) continue;
        ++kinds;
        const std::string at = fmt::format("{}.{}", field, key);
        const std::string_view name = string_at(*keys, "name");
        if (name.empty()) field_errors.push_back(required(at + ".name"));
        check_keys(*keys, at, field_errors);
        check_paths(*keys, name, volume, paths, field_errors);
    }
    if (const json::object* files = object_at(source, "downwardAPI")) {
        ++kinds;
        check_downward_files(*files, field + ".downwardAPI", field_errors);
        check_paths(*files, std::nullopt, volume, paths, field_errors);
    }
    if (const json::object* token = object_at(source, "serviceAccountToken")) {
        ++kinds;
        check_token(*token, volume, field + ".serviceAccountToken", field_errors);
    }
    if (kinds > 1)
        field_errors.push_back(
            forbidden_field(field, "may not specify more than 1 volume type per source"));
}

}  // namespace

void check_key_files(const json::object& source, const std::string& field,
                     FieldErrors& field_errors) {
    check_mode(source, "defaultMode", field, field_errors);
    check_keys(source, field, field_errors);
}

void check_downward_volume(const json::object& source, const std::string& field,
                           FieldErrors& field_errors) {
    check_mode(source, "defaultMode", field, field_errors);
    check_downward_files(source, field, field_errors);
}

void check_projected_volume(const json::object& source, const std::string& field,
                            FieldErrors& field_errors) {
    check_mode(source, "defaultMode", field, field_errors);
    const auto sources = objects_at(source, "sources");
    std::set<std::string_view> paths;
    for (std::size_t i = 0; i < sources.size(); ++i)
        check_projection(*sources[i], field, fmt::format("{}.sources[{}]", field, i), paths,
                         field_errors);
}

}  // namespace muster::apiserver
