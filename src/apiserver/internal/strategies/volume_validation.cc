#include "apiserver/internal/strategies/volume_validation.h"

#include <algorithm>
#include <array>

#include "apiserver/internal/pod_validation/environment.h"
#include "apiserver/internal/pod_validation/value_checks.h"
#include "apiserver/internal/writing/metadata_rules.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/name_syntax.h"
#include "kube/values/quantity.h"

namespace muster::apiserver {

namespace {

constexpr std::int64_t kMostMode = 0777;

void check_mode(const json::object& of, const char* key, const std::string& field,
                FieldErrors& field_errors) {
    const auto mode = int_at(of, key);
    if (mode && (*mode < 0 || *mode > kMostMode))
        field_errors.push_back(
            invalid_value(fmt::format("{}.{}", field, key), json::value(*mode),
                          "must be a number between 0 and 0777 (octal), both inclusive"));
}

/// Of a file in a volume; names that begin with ".." are those of whoever writes the files.
void check_file_path(const json::object& file, const std::string& field,
                     FieldErrors& field_errors) {
    const std::string at = field + ".path";
    const std::string_view path = string_at(file, "path");
    if (path.empty()) {
        field_errors.push_back(required(at));
        return;
    }
    check_descending_path(path, at, field_errors);
    if (path.starts_with("..") && !path.starts_with("../"))
        field_errors.push_back(invalid_value(at, json::value(path), "must not start with '..'"));
}

void check_items(const json::object& source, bool keys, const std::string& field,
                 FieldErrors& field_errors) {
    check_mode(source, "defaultMode", field, field_errors);
    const json::array* items = array_at(source, "items");
    if (items == nullptr) return;
    for (std::size_t i = 0; i < items->size(); ++i) {
        const json::object* item = (*items)[i].if_object();
        if (item == nullptr) continue;
        const std::string at = fmt::format("{}.items[{}]", field, i);
        if (keys && string_at(*item, "key").empty()) field_errors.push_back(required(at + ".key"));
        check_file_path(*item, at, field_errors);
        check_mode(*item, "mode", at, field_errors);
    }
}

/// Of a volume, or of one that is projected with others.
void check_file_sources(const json::object& volume, const std::string& field,
                        FieldErrors& field_errors) {
    for (const char* kind : {"configMap", "secret", "downwardAPI"})
        if (const json::object* source = object_at(volume, kind))
            check_items(*source, std::string_view(kind) != "downwardAPI",
                        fmt::format("{}.{}", field, kind), field_errors);
}

/// One of the two that a file of the downward API shows.
void check_downward_files(const json::object& source, const std::string& field,
                          FieldErrors& field_errors) {
    for (const json::object* file : objects_at(source, "items")) {
        const json::object* of_pod = object_at(*file, "fieldRef");
        const json::object* resource = object_at(*file, "resourceFieldRef");
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
            field_errors.push_back(
                required(field, "one of fieldRef and resourceFieldRef is required"));
    }
}

/// The object whose files these are must have a name; of a projection, it may be missing.
void check_source_names(const json::object& volume, const char* secret_name,
                        const std::string& field, FieldErrors& field_errors) {
    if (const json::object* map = object_at(volume, "configMap");
        map != nullptr && string_at(*map, "name").empty())
        field_errors.push_back(required(field + ".configMap.name"));
    if (const json::object* secret = object_at(volume, "secret");
        secret != nullptr && string_at(*secret, secret_name).empty())
        field_errors.push_back(required(fmt::format("{}.secret.{}", field, secret_name)));
    if (const json::object* files = object_at(volume, "downwardAPI"))
        check_downward_files(*files, field + ".downwardAPI", field_errors);
}

constexpr std::int64_t kShortestToken = 600;
constexpr std::int64_t kLongestToken = std::int64_t{1} << 32;

void check_projected_token(const json::object& token, const std::string& volume,
                           const std::string& field, FieldErrors& field_errors) {
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
    if (string_at(token, "path").empty())
        field_errors.push_back(required(volume + ".path"));
    else
        check_file_path(token, field, field_errors);
}

void check_projected(const json::object& projected, const std::string& field,
                     FieldErrors& field_errors) {
    check_mode(projected, "defaultMode", field, field_errors);
    const json::array* sources = array_at(projected, "sources");
    if (sources == nullptr) return;
    for (std::size_t i = 0; i < sources->size(); ++i) {
        const json::object* source = (*sources)[i].if_object();
        if (source == nullptr) continue;
        const std::string at = fmt::format("{}.sources[{}]", field, i);
        if (source->size() > 1)
            field_errors.push_back(
                forbidden_field(at, "may not specify more than 1 volume type per source"));
        check_source_names(*source, "name", at, field_errors);
        check_file_sources(*source, at, field_errors);
        if (const json::object* token = object_at(*source, "serviceAccountToken"))
            check_projected_token(*token, field, at + ".serviceAccountToken", field_errors);
    }
}

void check_other_sources(const json::object& volume, const std::string& field,
                         FieldErrors& field_errors) {
    if (const json::object* claim = object_at(volume, "persistentVolumeClaim");
        claim != nullptr && string_at(*claim, "claimName").empty())
        field_errors.push_back(required(field + ".persistentVolumeClaim.claimName"));
    if (const json::object* memory = object_at(volume, "emptyDir"))
        if (const json::value* limit = memory->if_contains("sizeLimit"))
            if (const auto size = kube::Quantity::parse(*limit); size && size->is_negative())
                field_errors.push_back(
                    forbidden_field(field + ".emptyDir.sizeLimit",
                                    "SizeLimit field must be a valid resource quantity"));
    if (const json::object* nfs = object_at(volume, "nfs")) {
        const std::string_view path = string_at(*nfs, "path");
        if (string_at(*nfs, "server").empty())
            field_errors.push_back(required(field + ".nfs.server"));
        if (path.empty())
            field_errors.push_back(required(field + ".nfs.path"));
        else if (!path.starts_with('/'))
            field_errors.push_back(
                invalid_value(field + ".nfs.path", json::value(path), "must be an absolute path"));
    }
    if (const json::object* ephemeral = object_at(volume, "ephemeral");
        ephemeral != nullptr && object_at(*ephemeral, "volumeClaimTemplate") == nullptr)
        field_errors.push_back(required(field + ".ephemeral.volumeClaimTemplate"));
}

void check_host_path(const json::object& source, const std::string& field,
                     FieldErrors& field_errors) {
    const std::string_view path = string_at(source, "path");
    if (path.empty())
        field_errors.push_back(required(field + ".path"));
    else
        check_no_backstep(path, field + ".path", field_errors);
    static const std::vector<std::string_view> kTypes{
        "",     "BlockDevice",  "CharDevice", "Directory", "DirectoryOrCreate",
        "File", "FileOrCreate", "Socket"};
    const std::string_view type = string_at(source, "type");
    if (std::ranges::find(kTypes, type) == kTypes.end())
        field_errors.push_back(not_supported(field + ".type", type, kTypes));
}

void check_volume_source(const json::object& volume, const std::string& field,
                         FieldErrors& field_errors) {
    std::string_view first;
    for (const auto& entry : volume) {
        if (entry.key() == "name") continue;
        if (first.empty())
            first = entry.key();
        else
            field_errors.push_back(
                forbidden_field(fmt::format("{}.{}", field, std::string_view(entry.key())),
                                "may not specify more than 1 volume type"));
    }
    if (const json::object* path = object_at(volume, "hostPath"))
        check_host_path(*path, field + ".hostPath", field_errors);
    if (const json::object* projected = object_at(volume, "projected"))
        check_projected(*projected, field + ".projected", field_errors);
    check_file_sources(volume, field, field_errors);
    check_source_names(volume, "secretName", field, field_errors);
    check_other_sources(volume, field, field_errors);
}

}  // namespace

std::set<std::string, std::less<>> check_volumes(const json::object& spec, const std::string& in,
                                                 FieldErrors& field_errors) {
    std::set<std::string, std::less<>> names;
    const json::array* volumes = array_at(spec, "volumes");
    if (volumes == nullptr) return names;
    for (std::size_t i = 0; i < volumes->size(); ++i) {
        const json::object* volume = (*volumes)[i].if_object();
        if (volume == nullptr) continue;
        const std::string field = fmt::format("{}.volumes[{}]", in, i);
        const std::string name(string_at(*volume, "name"));
        if (name.empty())
            field_errors.push_back(required(field + ".name"));
        else if (!kube::is_dns1123_label(name))
            field_errors.push_back(
                invalid_value(field + ".name", json::value(name), kDnsLabelMessage));
        else if (!names.insert(name).second)
            field_errors.push_back(duplicate(field + ".name", json::value(name)));
        check_volume_source(*volume, field, field_errors);
    }
    return names;
}

}  // namespace muster::apiserver
