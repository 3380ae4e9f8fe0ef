#include "apiserver/internal/writing/pod_account.h"

#include <algorithm>

#include "apiserver/objects/json_access.h"
#include "kube/transport/server_address.h"
#include "kube/values/document.h"

namespace muster::apiserver {

namespace {

constexpr std::int64_t kFileMode = 0644;
/// An hour, and a few seconds that distinguish such a token from one that a person requested.
constexpr std::int64_t kTokenSeconds = 3607;

bool wants_token(const json::object& spec, const json::object& account) {
    for (const json::object* asked : {&spec, &account}) {
        const json::value* wanted = asked->if_contains("automountServiceAccountToken");
        if (wanted != nullptr && wanted->is_bool()) return wanted->get_bool();
    }
    return true;
}

/// The same for every pod, so it is made once.
const json::object& token_source() {
    static const json::object kSource = [] {
        const auto source = [](std::string_view kind, json::object fields) {
            return json::object{{kind, std::move(fields)}};
        };
        const json::object space{
            {"path", "namespace"},
            {"fieldRef", json::object{{"apiVersion", "v1"}, {"fieldPath", "metadata.namespace"}}}};
        const json::object trust{{"key", "ca.crt"}, {"path", "ca.crt"}};
        json::array sources{
            source("serviceAccountToken",
                   {{"expirationSeconds", kTokenSeconds}, {"path", "token"}}),
            source("configMap", {{"name", "kube-root-ca.crt"}, {"items", json::array{trust}}}),
            source("downwardAPI", {{"items", json::array{space}}})};
        return json::object{{"sources", std::move(sources)}, {"defaultMode", kFileMode}};
    }();
    return kSource;
}

void add_token_volume(json::array& volumes, std::string_view name) {
    json::object& volume = volumes.emplace_back(nullptr).emplace_object();
    volume.reserve(2);
    volume.emplace("name", name);
    volume.emplace("projected", token_source());
}

/// The name of an existing volume, as when a pod's manifest was taken from another pod.
std::string_view present_volume(const json::object& spec) {
    const json::array* volumes = array_at(spec, "volumes");
    if (volumes == nullptr) return {};
    for (const json::value& volume : *volumes)
        if (const json::object* fields = volume.if_object())
            if (const std::string_view name = string_at(*fields, "name");
                name.starts_with(kube::kAccountVolumePrefix))
                return name;
    return {};
}

/// Whether it was mounted: not if something is mounted there already.
bool mount_in(json::object& container, std::string_view volume) {
    json::value& mounts = container["volumeMounts"];
    if (mounts.is_null()) mounts.emplace_array();
    if (!mounts.is_array()) return false;
    const bool taken = std::ranges::any_of(mounts.get_array(), [](const json::value& mount) {
        const json::object* fields = mount.if_object();
        return fields != nullptr && string_at(*fields, "mountPath") == kube::kAccountDirectory;
    });
    if (taken) return false;
    json::object& mount = mounts.get_array().emplace_back(nullptr).emplace_object();
    mount.reserve(3);
    mount.emplace("name", volume);
    mount.emplace("readOnly", true);
    mount.emplace("mountPath", kube::kAccountDirectory);
    return true;
}

}  // namespace

std::string account_of(const json::object& pod) {
    const json::object* spec = object_at(pod, "spec");
    if (spec == nullptr) return "default";
    for (const char* key : {"serviceAccountName", "serviceAccount"})
        if (const std::string_view name = string_at(*spec, key); !name.empty())
            return std::string(name);
    return "default";
}

void give_account(json::object& pod, const json::object& account, std::string_view suffix) {
    json::object& spec = ensure_object(pod, "spec");
    const std::string name = account_of(pod);
    spec["serviceAccountName"] = name;
    spec["serviceAccount"] = name;
    const json::array* secrets = array_at(account, "imagePullSecrets");
    if (secrets != nullptr && !secrets->empty())
        set_default(spec, "imagePullSecrets", kube::copy_of(*secrets));
    if (!wants_token(spec, account)) return;
    std::string volume(present_volume(spec));
    const bool present = !volume.empty();
    if (!present) volume = fmt::format("{}{}", kube::kAccountVolumePrefix, suffix);
    bool mounted = false;
    for (const char* key : {"initContainers", "containers"})
        if (json::array* containers = array_at(spec, key))
            for (json::value& container : *containers)
                if (json::object* fields = container.if_object())
                    mounted = mount_in(*fields, volume) || mounted;
    if (present || !mounted) return;
    json::value& volumes = spec["volumes"];
    if (volumes.is_null()) volumes.emplace_array();
    if (volumes.is_array()) add_token_volume(volumes.get_array(), volume);
}

}  // namespace muster::apiserver
