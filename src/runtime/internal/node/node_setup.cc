#include "runtime/internal/node/node_setup.h"

#include <unistd.h>

#include <string_view>
#include <utility>

namespace muster::runtime {

namespace {

std::string shared_network(std::string_view why) {
    return fmt::format(
        "pods share this machine's network and have an address 127.77.x.y each, {}; jobs that use "
        "the same port run one after the other",
        why);
}

/// Before we start any process except the cleanup process: a group without other processes may be
/// divided.
Result<Cgroups> make_cgroups(const NodeOptions& options) {
    Cgroups::Place place = Cgroups::place_of_this_process();
    const std::string group = node_group_name(options.state_dir, options.pods_outlive);
    if (options.cleanup != nullptr) {
        place.companion = options.cleanup->pid();
        for (const std::string& possible : Cgroups::possible_groups(place, group))
            TRY_VOID(options.cleanup->remove_cgroup(possible));
    }
    return Cgroups::create(kernel_cgroup_files(), place, group, options.pids_per_pod);
}

std::string_view how_to_allow_namespaces() {
    return ::geteuid() == 0
               ? "Root lacks rights here, as in a container: give it CAP_SYS_ADMIN and "
                 "CAP_NET_ADMIN (a privileged container), or run muster outside"
               : "Run muster as root, or allow user namespaces (sysctl "
                 "kernel.unprivileged_userns_clone=1, "
                 "kernel.apparmor_restrict_unprivileged_userns=0)";
}

struct HostAndNotice {
    SandboxHost host;
    std::string notice;  ///< why it has no namespaces; empty if it has
};

Result<HostAndNotice> without_namespaces(std::string notice) {
    TRY(SandboxHost host, SandboxHost::create(false));
    return HostAndNotice{std::move(host), std::move(notice)};
}

/// With namespaces if they are wanted and the kernel allows them.
Result<HostAndNotice> open_host(SandboxMode mode, UniqueFd network) {
    if (mode == SandboxMode::kNone) return without_namespaces(shared_network("as asked for"));
    auto host = SandboxHost::create(true, std::move(network));
    if (host) return HostAndNotice{*std::move(host), {}};
    const std::string& why = host.error().message();
    if (mode == SandboxMode::kNamespaces)
        return Error(Code::kUnsupported,
                     fmt::format("this kernel does not let muster isolate pods: {}. {}, or pass "
                                 "--sandbox none",
                                 why, how_to_allow_namespaces()));
    return without_namespaces(fmt::format(
        "{}. {}", shared_network(fmt::format("since the kernel forbids namespaces ({})", why)),
        how_to_allow_namespaces()));
}

/// Checks options that need pods to have mounts of their own.
Result<void> check_shared_files(const NodeOptions& options, const std::string& notice) {
    // What stands for itself is there already, as pods see the files of this machine.
    const auto moved = std::ranges::find_if(
        options.mounts, [](const auto& mount) { return mount.first != mount.second; });
    if (moved != options.mounts.end())
        return Error(Code::kUnsupported,
                     fmt::format("{} can't be made to appear in pods: they have no mounts of their "
                                 "own ({})",
                                 moved->first.string(), notice));
    if (options.files != FileMode::kShared)
        return Error(Code::kUnsupported,
                     fmt::format("pods can't have files of their own: they have no mounts of their "
                                 "own ({})",
                                 notice));
    return {};
}

}  // namespace

Result<NodeParts> set_up_node(const asio::any_io_executor& executor, NodeOptions options) {
    TRY(Cgroups cgroups, make_cgroups(options));
    RecoveredPods recovered;
    if (options.pods_outlive) {
        TRY(recovered, recover_pods(options.state_dir));
    }
    TRY(UniqueFd network, network_of(recovered));
    TRY(HostAndNotice opened, open_host(options.sandbox, std::move(network)));
    SandboxHost& host = opened.host;
    std::vector<std::string> notices;
    if (!host.fabric) {
        TRY_VOID(check_shared_files(options, opened.notice));
        notices.push_back(std::move(opened.notice));
        if (options.server)
            notices.emplace_back(
                "pods have no tokens of their service accounts, as all see the same files: "
                "programs in them that call the API need a kubeconfig");
    }
    TRY_VOID(end_unreachable(recovered, host.fabric ? host.fabric->network().descriptor() : -1));
    host.cleanup = options.cleanup;
    host.core_bytes = options.core_bytes;
    if (options.cleanup != nullptr)
        for (const Cgroups::Claim& claim : cgroups.claims())
            TRY_VOID(options.cleanup->hold(claim.lock.get()));
    TRY(auto log_watch, LogWatch::create(executor));
    return NodeParts{.options = std::move(options),
                     .cgroups = std::move(cgroups),
                     .recovered = std::move(recovered),
                     .sandboxes = std::move(host),
                     .log_watch = std::move(log_watch),
                     .notices = std::move(notices)};
}

}  // namespace muster::runtime
