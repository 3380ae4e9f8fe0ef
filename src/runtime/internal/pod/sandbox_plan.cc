#include "runtime/internal/pod/sandbox_plan.h"

#include <filesystem>

namespace muster::runtime {

namespace {

Result<pod_init::PrivateFiles> plan_private_files(const PodContext& pod,
                                                  const ReadyVolumes& volumes) {
    const NodeOptions& options = pod.node.options;
    pod_init::PrivateFiles files;
    if (options.files == FileMode::kShared) return files;
    files.scope = options.files == FileMode::kPrivate ? pod_init::PrivateFiles::Scope::kMachine
                                                      : pod_init::PrivateFiles::Scope::kDirectory;
    files.directory = options.working_dir;
    files.bytes = options.files_bytes;
    files.scratch = pod.files.view();
    // Paths named by the manifest or the command line are meant to be written to.
    files.kept = {pod.files.directory()};
    for (const kube::Volume& volume : pod.pod->spec.volumes)
        if (volume.host_path)
            files.kept.push_back(volume.host_path->path);
        else if (volume.rest.contains("persistentVolumeClaim"))
            files.kept.push_back(volumes.by_name.at(volume.name).path);
    for (const auto& [image_path, directory] : options.mounts) files.kept.push_back(directory);
    if (options.files_dir.empty()) return files;
    files.store = options.files_dir / fmt::format("{}_{}", pod.namespace_(), pod.name());
    std::error_code error;
    std::filesystem::create_directories(files.store, error);
    if (error) return system_error("making the directory " + files.store, error.value());
    files.kept.push_back(files.store);
    return files;
}

}  // namespace

Result<SandboxSpec> plan_sandbox(const PodContext& pod, const ReadyVolumes& volumes) {
    SandboxSpec spec;
    spec.title = pod.pod->metadata.namespaced_name().text();
    spec.hostname = hostname_of(*pod.pod);
    spec.address = pod.node.names.address(pod.namespace_(), pod.name()).value_or(0);
    spec.mounts = volumes.pod_mounts;
    spec.sysctls = pod.isolation.security().sysctls;
    spec.pids = static_cast<std::uint64_t>(pod.node.isolation.cgroups.pids_of_pod());
    spec.privileged = pod.isolation.privileged();
    if (pod.node.options.pods_outlive) {
        spec.socket = pod.files.socket();
        spec.note = text_of(pod.isolation.devices());
    }
    TRY(spec.files, plan_private_files(pod, volumes));
    return spec;
}

}  // namespace muster::runtime
