#include <fmt/format.h>

#include "jobs/internal/mpijob.h"
#include "kube/values/base64.h"
#include "net/tls/certificates.h"
#include "net/tls/ssh_key.h"

namespace muster::jobs {
namespace {

const kube::ResourceType kRoles{"rbac.authorization.k8s.io", "v1", "roles", "Role"};
const kube::ResourceType kRoleBindings{"rbac.authorization.k8s.io", "v1", "rolebindings",
                                       "RoleBinding"};

std::map<std::string, std::string> app_label(const MpiView& mpi) {
    return {{"app", mpi.job.metadata.name}};
}

OwnedObject config_map(const MpiView& mpi, const std::vector<SeenPod>& running) {
    json::object data{{kHostfile, hostfile(mpi, running)},
                      {kDiscoverHosts, discover_hosts(mpi, running)}};
    if (mpi.shell == RemoteShell::kKubectl) data[kKubexec] = kubexec(mpi);
    if (mpi.shell == RemoteShell::kOurs) data[kRsh] = rsh_script(mpi);
    if (mpi.shell == RemoteShell::kSsh && mpi.one_machine) {
        data[kSshConfig] = ssh_config(mpi);
        data[kSshdConfig] = sshd_config();
    }
    return {.type = kube::types::kConfigMaps,
            .name = mpi.config_name(),
            .labels = app_label(mpi),
            .content = {{"data", std::move(data)}},
            .kept = {"data"}};
}

// --- ssh and our remote shell

/// Makes `<pod>.<job>.<namespace>.svc` resolvable. Addresses of pods that are not ready are
/// published too: the workers' daemons call the launcher back by name while it starts.
OwnedObject network(const MpiView& mpi) {
    json::object selector;
    for (const auto& [key, value] : job_labels(*mpi.job.kind, mpi.job.metadata.name))
        selector[key] = value;
    return {.type = kube::types::kServices,
            .name = mpi.job.metadata.name,
            .labels = app_label(mpi),
            .content = {{"spec",
                         {{"clusterIP", "None"},
                          {"selector", std::move(selector)},
                          {"publishNotReadyAddresses", true}}}},
            .kept = {"spec.selector", "spec.publishNotReadyAddresses"}};
}

// --- ssh

Result<void> make_key(json::object& content) {
    TRY(const net::SshKey key, net::make_ssh_key());
    content["data"] = {{"ssh-privatekey", kube::base64_encode(key.private_pem)},
                       {"ssh-publickey", kube::base64_encode(key.public_line)}};
    return {};
}

OwnedObject ssh_key(const MpiView& mpi) {
    return {.type = kube::types::kSecrets,
            .name = mpi.key_name(),
            .labels = app_label(mpi),
            .content = {{"type", "kubernetes.io/ssh-auth"}},
            .kept = {},
            .made_once = {"data.ssh-privatekey", "data.ssh-publickey"},
            .make = make_key};
}

// --- our remote shell

Result<void> make_token(json::object& content) {
    constexpr std::size_t kBytes = 32;
    TRY(const std::string token, net::random_token(kBytes));
    content["data"] = {{kToken, kube::base64_encode(token)}};
    return {};
}

OwnedObject token(const MpiView& mpi) {
    return {.type = kube::types::kSecrets,
            .name = mpi.token_name(),
            .labels = app_label(mpi),
            .content = {{"type", "Opaque"}},
            .kept = {},
            .made_once = {fmt::format("data.{}", kToken)},
            .make = make_token};
}

// --- kubectl

OwnedObject account(const MpiView& mpi) {
    return {.type = kube::types::kServiceAccounts,
            .name = mpi.account_name(),
            .labels = app_label(mpi),
            .content = {},
            .kept = {}};
}

OwnedObject role(const MpiView& mpi) {
    json::array workers;
    for (std::int32_t i = 0; i < mpi.workers; ++i) workers.emplace_back(mpi.worker_name(i));
    json::array rules{json::object{{"apiGroups", json::array{""}},
                                   {"resources", json::array{"pods"}},
                                   {"verbs", json::array{"get", "list", "watch"}}},
                      json::object{{"apiGroups", json::array{""}},
                                   {"resources", json::array{"pods/exec"}},
                                   // With WebSocket, as in kubectl from 1.31 on, it is a GET.
                                   {"verbs", json::array{"create", "get"}},
                                   {"resourceNames", std::move(workers)}}};
    // A rule without names would apply to all pods.
    if (mpi.workers == 0) rules.pop_back();
    return {.type = kRoles,
            .name = mpi.role_name(),
            .labels = app_label(mpi),
            .content = {{"rules", std::move(rules)}},
            .kept = {"rules"}};
}

OwnedObject role_binding(const MpiView& mpi) {
    return {.type = kRoleBindings,
            .name = mpi.role_name(),
            .labels = app_label(mpi),
            .content = {{"roleRef",
                         {{"apiGroup", kRoles.group}, {"kind", "Role"}, {"name", mpi.role_name()}}},
                        {"subjects",
                         json::array{json::object{{"kind", "ServiceAccount"},
                                                  {"name", mpi.account_name()},
                                                  {"namespace", mpi.job.metadata.namespace_}}}}},
            .kept = {"subjects"}};
}

}  // namespace

std::vector<kube::ResourceType> mpi_owned_types(bool first_dialect) {
    using namespace kube::types;
    if (!first_dialect) return {kServices, kConfigMaps, kSecrets};
    return {kServiceAccounts, kServices, kConfigMaps, kSecrets, kRoles, kRoleBindings};
}

/// In the order in which upstream makes them.
std::vector<OwnedObject> mpi_owned_objects(const Job& job, const std::vector<SeenPod>& running) {
    const MpiView mpi = view_of(job);
    if (mpi.shell == RemoteShell::kSsh)
        return {network(mpi), config_map(mpi, running), ssh_key(mpi)};
    if (mpi.shell == RemoteShell::kOurs)
        return {network(mpi), config_map(mpi, running), token(mpi)};
    std::vector<OwnedObject> all;
    if (!mpi.has_own_account()) all.push_back(account(mpi));
    all.push_back(config_map(mpi, running));
    all.push_back(role(mpi));
    all.push_back(role_binding(mpi));
    return all;
}

}  // namespace muster::jobs
