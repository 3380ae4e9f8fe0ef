#include "runtime/internal/pod/container_plan.h"

#include <algorithm>
#include <cstring>

#include "kube/transport/server_address.h"
#include "kube/values/json_access.h"
#include "process/program_file.h"
#include "runtime/container_paths.h"
#include "runtime/internal/lifecycle/termination_message.h"
#include "runtime/kept_below_tmp.h"

namespace muster::runtime {

namespace fs = std::filesystem;

namespace {

std::string without_trailing_slash(std::string path) {
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
}

pod_init::MountSpec bind(std::string source, std::string target, bool owned = false) {
    pod_init::MountSpec mount;
    mount.source = std::move(source);
    mount.target = std::move(target);
    mount.owned = owned;
    return mount;
}

bool is_mounted_at(const std::vector<pod_init::MountSpec>& mounts, std::string_view target) {
    return std::ranges::any_of(
        mounts, [&](const auto& mount) { return normal_path(mount.target) == target; });
}

/// A mount that the API adds by itself: a pod without it is not refused.
bool is_account_mount(const kube::VolumeMount& mount) {
    return mount.name.starts_with(kube::kAccountVolumePrefix) &&
           mount.mount_path == kube::kAccountDirectory;
}

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

}  // namespace

Result<void> check_container(const kube::Container& container, bool namespaces,
                             const kube::Pod& pod) {
    if (container.command.empty() && container.args.empty())
        return Error(
            Code::kInvalid,
            fmt::format("container {} has no command. On a cluster its image {} would say what to "
                        "run; here this machine is the image, so the manifest must: set command",
                        container.name, container.image.empty() ? "" : quoted(container.image)));
    if (namespaces) return {};
    for (const kube::VolumeMount& mount : container.volume_mounts) {
        if (is_account_mount(mount)) continue;
        auto volume = std::ranges::find(pod.spec.volumes, mount.name, &kube::Volume::name);
        if (volume != pod.spec.volumes.end() && volume->host_path &&
            without_trailing_slash(volume->host_path->path) ==
                without_trailing_slash(mount.mount_path) &&
            mount.sub_path.empty())
            continue;
        return Error(
            Code::kUnsupported,
            fmt::format("volume {} can't appear at {}: pods have no mounts of their own "
                        "here, as the kernel forbids namespaces. Run muster as root, or "
                        "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1)",
                        mount.name, mount.mount_path));
    }
    return {};
}

Result<pod_init::ContainerStart> plan_container(const kube::Container& container,
                                                ContainerProcess process,
                                                const ContainerSecurity& security,
                                                const ContainerSurroundings& surroundings,
                                                const PodDirectories& directories,
                                                const ReadyVolumes& volumes) {
    pod_init::ContainerStart start;
    start.argv = std::move(process.argv);
    start.environment = std::move(process.environment);
    start.working_dir =
        container.working_dir.empty() ? surroundings.working_dir.string() : container.working_dir;
    start.scratch_dir = directories.scratch;
    start.identity = security.identity;
    start.terminal = kube::bool_at(container.rest, "tty");
    start.input = kube::bool_at(container.rest, "stdin");
    start.input_once = kube::bool_at(container.rest, "stdinOnce");
    if (!surroundings.namespaces) return start;
    start.read_only_root = security.read_only_root;

    TRY(start.mounts, container_mounts(container, start.environment, volumes));
    std::vector<pod_init::MountSpec>& mounts = start.mounts;
    auto add = [&mounts](pod_init::MountSpec mount) {
        // A mount of the manifest takes precedence.
        if (!is_mounted_at(mounts, mount.target)) mounts.push_back(std::move(mount));
    };
    auto add_of_machine = [&](pod_init::MountSpec mount) {
        mount.read_only = security.read_only_root;
        add(std::move(mount));
    };
    const bool own_tmp = !is_mounted_at(mounts, "/tmp");
    for (const auto& [image_path, directory] : surroundings.image_mounts)
        add_of_machine(bind(directory.string(), without_trailing_slash(image_path.string()), true));
    // Shared by the job's pods, and rewritten when names change.
    pod_init::MountSpec hosts = bind(directories.hosts, "/etc/hosts");
    hosts.read_only = true;
    add(std::move(hosts));
    add_of_machine(bind(directories.hostname, "/etc/hostname"));
    const fs::path& resolv_conf =
        directories.resolv_conf.empty() ? surroundings.resolv_conf : directories.resolv_conf;
    if (!resolv_conf.empty()) add_of_machine(bind(resolv_conf, "/etc/resolv.conf"));
    add(bind(directories.termination_log.string(), termination_log_of(container)));
    if (own_tmp) {
        std::vector<std::string> kept = surroundings.kept_below_tmp;
        std::error_code error;
        if (fs::is_directory(start.working_dir, error)) keep_below_tmp(kept, start.working_dir);
        add(bind(directories.tmp, "/tmp", true));
        for (const std::string& path : kept) add_of_machine(bind(path, path));
    }
    std::ranges::sort(mounts, {}, [](const auto& mount) { return normal_path(mount.target); });
    return start;
}

std::string termination_log_of(const kube::Container& container) {
    const std::string& path = container.termination_message_path;
    if (path.empty()) return std::string(kTerminationLog);
    return without_trailing_slash(path.starts_with('/') ? path : "/" + path);
}

std::optional<std::string> hidden_by_tmp(const pod_init::ContainerStart& start) {
    if (!is_mounted_at(start.mounts, "/tmp")) return std::nullopt;
    const auto hidden = [&](const std::string& path) {
        std::error_code ignored;
        if (path == "/tmp" || !is_below(path, "/tmp") || !fs::exists(path, ignored)) return false;
        return std::ranges::none_of(start.mounts, [&](const pod_init::MountSpec& mount) {
            return mount.target != "/tmp" && is_below(path, mount.target);
        });
    };
    const auto found = std::ranges::find_if(start.argv, hidden);
    if (found == start.argv.end()) return std::nullopt;
    return *found;
}

std::vector<std::string> containers_run_by_their_args(const kube::PodSpec& spec) {
    std::vector<std::string> names;
    for (const auto* containers : {&spec.init_containers, &spec.containers})
        for (const kube::Container& container : *containers)
            if (container.command.empty() && !container.args.empty())
                names.push_back(container.name);
    return names;
}

namespace {

/// "/a:/b:/c and 7 more" of a PATH: an event, a status and a verdict show it.
std::string first_directories(const std::string& path) {
    constexpr std::ptrdiff_t kShown = 3;
    std::size_t end = 0;
    for (std::ptrdiff_t shown = 0; shown < kShown && end != std::string::npos; ++shown)
        end = path.find(':', shown == 0 ? 0 : end + 1);
    if (end == std::string::npos) return path;
    const auto more = std::count(path.begin() + static_cast<std::ptrdiff_t>(end), path.end(), ':');
    return fmt::format("{} and {} more", std::string_view(path).substr(0, end), more);
}

}  // namespace

std::string describe_start_failure(const pod_init::StartFailure& failure,
                                   const pod_init::ContainerStart& start) {
    const std::string program = start.argv.empty() ? "" : quoted(start.argv[0]);
    const char* reason = std::strerror(failure.error);  // NOLINT(concurrency-mt-unsafe)
    switch (failure.stage) {
        case pod_init::StartStage::kMount:
            return failure.detail;
        case pod_init::StartStage::kWorkingDir:
            return fmt::format(
                "the working directory {} can't be entered: {}. This machine is the image here: "
                "create the directory, pass --mount {}=DIR if it lives elsewhere, or --workdir",
                failure.detail, reason, failure.detail);
        case pod_init::StartStage::kProgramMissing:
            if (start.argv[0].find('/') != std::string::npos)
                return fmt::format(
                    "the program {} does not exist on this machine, which is the image here. "
                    "Install it, or pass --mount IMAGE_PATH=DIR if it lives elsewhere",
                    program);
            return fmt::format(
                "the program {} is in no directory of PATH ({}). This machine is the image here: "
                "install it, or activate the environment that has it before starting muster",
                program, first_directories(process::path_of(start.environment)));
        case pod_init::StartStage::kNotExecutable:
            return fmt::format("{} can't be executed: {}. {}", failure.detail, reason,
                               failure.error == EISDIR
                                   ? "Name a program in command"
                                   : "Make it executable (chmod +x), or name its interpreter in "
                                     "command");
        case pod_init::StartStage::kInterpreterMissing:
            return fmt::format(
                "{} can't be executed: its interpreter {} does not exist on this machine. Install "
                "it, or name another interpreter in command",
                program, failure.detail);
        case pod_init::StartStage::kFormat:
            return fmt::format(
                "{} is neither a program for this machine nor a script with a first line like "
                "#!/bin/sh: add one, or name its interpreter in command",
                failure.detail);
        case pod_init::StartStage::kGroup:
        case pod_init::StartStage::kIdentity:
        case pod_init::StartStage::kOther:
            break;
    }
    return fmt::format("starting {} failed: {}: {}", program, failure.detail, reason);
}

}  // namespace muster::runtime
