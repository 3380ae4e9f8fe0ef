#include "apiserver/internal/pod_validation/volume_sources.h"

#include <algorithm>
#include <array>

#include "apiserver/internal/pod_validation/claim_spec.h"
#include "apiserver/internal/pod_validation/disk_volumes.h"
#include "apiserver/internal/pod_validation/file_volumes.h"
#include "apiserver/internal/pod_validation/value_checks.h"
#include "apiserver/objects/json_access.h"
#include "kube/values/quantity.h"

namespace muster::apiserver {

namespace {

constexpr std::int64_t kMostPartition = 255;

void check_empty_dir(const json::object& source, const std::string& field,
                     FieldErrors& field_errors) {
    const json::value* limit = source.if_contains("sizeLimit");
    if (limit == nullptr) return;
    if (const auto size = kube::Quantity::parse(*limit); size && size->is_negative())
        field_errors.push_back(forbidden_field(
            field + ".sizeLimit", "SizeLimit field must be a valid resource quantity"));
}

void check_host_path(const json::object& source, const std::string& field,
                     FieldErrors& field_errors) {
    const std::string_view path = string_at(source, "path");
    if (path.empty()) {
        field_errors.push_back(required(field + ".path"));
        return;
    }
    check_no_backstep(path, field + ".path", field_errors);
    static const std::vector<std::string_view> kTypes{
        "",     "BlockDevice",  "CharDevice", "Directory", "DirectoryOrCreate",
        "File", "FileOrCreate", "Socket"};
    const std::string_view type = string_at(source, "type");
    if (std::ranges::find(kTypes, type) == kTypes.end())
        field_errors.push_back(not_supported(field + ".type", type, kTypes));
}

void check_git_repo(const json::object& source, const std::string& field,
                    FieldErrors& field_errors) {
    check_descending_path(string_at(source, "directory"), field + ".directory", field_errors);
}

void check_partition(const json::object& source, const std::string& field,
                     FieldErrors& field_errors) {
    const auto partition = int_at(source, "partition");
    if (partition && (*partition < 0 || *partition > kMostPartition))
        field_errors.push_back(invalid_value(field + ".partition", json::value(*partition),
                                             "must be between 1 and 255, inclusive"));
}

void check_nfs(const json::object& source, const std::string& field, FieldErrors& field_errors) {
    const std::string_view path = string_at(source, "path");
    if (!path.starts_with('/'))
        field_errors.push_back(
            invalid_value(field + ".path", json::value(path), "must be an absolute path"));
}

void check_secret_name(const json::object& source, const std::string& field,
                       FieldErrors& field_errors) {
    if (const json::object* secret = object_at(source, "secretRef");
        secret != nullptr && string_at(*secret, "name").empty())
        field_errors.push_back(required(field + ".secretRef.name"));
}

void check_storageos(const json::object& source, const std::string& field,
                     FieldErrors& field_errors) {
    check_storageos_volume(source, field, field_errors);
    check_secret_name(source, field, field_errors);
}

void check_ephemeral(const json::object& source, const std::string& in, FieldErrors& field_errors) {
    const std::string field = in + ".volumeClaimTemplate";
    if (const json::object* claim = object_at(source, "volumeClaimTemplate"))
        check_claim_template(*claim, field, field_errors);
    else
        field_errors.push_back(required(field));
}

struct SourceKind {
    const char* key;
    std::array<const char*, 3> required;  ///< texts or lists that it must have
    void (*check)(const json::object& source, const std::string& field,
                  FieldErrors& field_errors) = nullptr;
    const char* path = nullptr;     ///< in the paths of its causes, if that is not the key
    const char* refused = nullptr;  ///< and in that of the cause that there is another kind
};

/// In the order in which upstream looks for them.
constexpr SourceKind kSourceKinds[] = {
    {"emptyDir", {}, check_empty_dir},
    {"hostPath", {}, check_host_path},
    {"gitRepo", {"repository"}, check_git_repo},
    {"gcePersistentDisk", {"pdName"}, check_partition, "persistentDisk"},
    {"awsElasticBlockStore", {"volumeID"}, check_partition},
    {"secret", {"secretName"}, check_key_files},
    {"nfs", {"server", "path"}, check_nfs},
    {"iscsi", {"targetPortal", "iqn"}, check_iscsi_volume},
    {"glusterfs", {"endpoints", "path"}},
    {"flocker", {}, check_flocker_volume},
    {"persistentVolumeClaim", {"claimName"}},
    {"rbd", {"monitors", "image"}},
    {"cinder", {"volumeID"}, check_secret_name},
    {"cephfs", {"monitors"}, nullptr, nullptr, "cephFS"},
    {"quobyte", {"volume"}, check_quobyte_volume},
    {"downwardAPI", {}, check_downward_volume, nullptr, "downwarAPI"},
    {"fc", {}, check_fc_volume},
    {"flexVolume", {"driver"}, check_flex_volume},
    {"configMap", {"name"}, check_key_files},
    {"azureFile", {"secretName", "shareName"}},
    {"vsphereVolume", {"volumePath"}},
    {"photonPersistentDisk", {"pdID"}},
    {"portworxVolume", {"volumeID"}},
    {"azureDisk", {"diskName", "diskURI"}, check_azure_disk_volume},
    {"storageos", {"volumeName"}, check_storageos},
    {"projected", {}, check_projected_volume},
    {"scaleIO", {"gateway", "system", "volumeName"}},
    {"csi", {}, check_csi_volume},
    {"ephemeral", {}, check_ephemeral},
    {"image", {}},
};

void check_source(const SourceKind& kind, const json::object& source, const std::string& field,
                  FieldErrors& field_errors) {
    for (const char* key : kind.required) {
        if (key == nullptr) break;
        const json::array* list = array_at(source, key);
        if (string_at(source, key).empty() && (list == nullptr || list->empty()))
            field_errors.push_back(required(fmt::format("{}.{}", field, key)));
    }
    if (kind.check != nullptr) kind.check(source, field, field_errors);
}

/// A node of iSCSI has a name for each volume and portal.
void check_initiator(const json::object& volume, const std::string& field,
                     FieldErrors& field_errors) {
    constexpr std::size_t kMostBytes = 64;
    const json::object& source = child(volume, "iscsi");
    const std::string_view name = string_at(volume, "name");
    if (source.contains("initiatorName") &&
        name.size() + 1 + string_at(source, "targetPortal").size() > kMostBytes)
        field_errors.push_back(
            invalid_value(field + ".name", json::value(name),
                          "Total length of <volume name>:<iscsi.targetPortal> must be under 64 "
                          "characters if iscsi.initiatorName is specified."));
}

}  // namespace

void check_volume_source(const json::object& volume, const std::string& field,
                         FieldErrors& field_errors) {
    bool found = false;
    for (const SourceKind& kind : kSourceKinds) {
        const json::object* source = object_at(volume, kind.key);
        if (source == nullptr) continue;
        const auto at = [&](const char* other) {
            return fmt::format("{}.{}", field, other == nullptr ? kind.key : other);
        };
        if (found)
            field_errors.push_back(
                forbidden_field(at(kind.refused), "may not specify more than 1 volume type"));
        else
            check_source(kind, *source, at(kind.path), field_errors);
        found = true;
    }
    check_initiator(volume, field, field_errors);
}

}  // namespace muster::apiserver
