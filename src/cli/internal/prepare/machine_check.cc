#include "cli/internal/prepare/machine_check.h"

#include <algorithm>
#include <iterator>

#include "cli/internal/prepare/container_check.h"
#include "cli/internal/prepare/gang_check.h"
#include "cli/internal/prepare/resource_check.h"
#include "cli/internal/prepare/volume_check.h"
#include "kube/objects/codec.h"
#include "kube/objects/pod.h"
#include "kube/values/json_access.h"
#include "manifest/pod_specs.h"
#include "runtime/container_paths.h"
#include "runtime/pod_refusals.h"

namespace muster::cli {

namespace {

/// The node would refuse it again and again, and the job would wait in vain.
void check_refusals(const manifest::Document& document, const manifest::PodSpecRef& pod,
                    const kube::Pod& made, std::vector<manifest::Problem>& problems) {
    for (const runtime::PodRefusal& refusal : runtime::refusals_of(made)) {
        problems.push_back(document.problem(manifest::Severity::kError,
                                            pod.path + "." + refusal.field, refusal.why));
    }
}

/// A pod of the user; nullopt for what was refused before.
std::optional<kube::Pod> written_pod(const manifest::PodSpecRef& pod) {
    auto spec = kube::decode<kube::PodSpec>(*pod.spec);
    if (!spec) return std::nullopt;
    kube::Pod written;
    written.spec = *std::move(spec);
    return written;
}

/// A job's pod as it will be made; nullopt for a pod of the user.
std::optional<kube::Pod> made_pod(const std::optional<jobs::Job>& job,
                                  const manifest::PodSpecRef& pod) {
    if (!job) return std::nullopt;
    Result<kube::Pod> made = jobs::build_pod(*job, {pod.replica_type, 0});
    if (!made) return std::nullopt;  // refused before, where its job was planned
    return std::move(*made);
}

const kube::Container* container_named(const std::optional<kube::Pod>& pod, std::string_view name) {
    if (!pod) return nullptr;
    const auto found = std::ranges::find(pod->spec.containers, name, &kube::Container::name);
    return found == pod->spec.containers.end() ? nullptr : &*found;
}

}  // namespace

std::optional<std::string> Surroundings::mounted(const std::string& in_container) const {
    const std::pair<std::string, std::string>* best = nullptr;
    for (const auto& mount : mounts)
        if (runtime::is_below(in_container, mount.first) &&
            (best == nullptr || mount.first.size() > best->first.size()))
            best = &mount;
    if (best == nullptr) return std::nullopt;
    return best->second + in_container.substr(best->first == "/" ? 0 : best->first.size());
}

MachineProblems check_machine(std::vector<manifest::CheckedObject>& objects,
                              const control_plane::Machine& machine,
                              const Surroundings& surroundings) {
    MachineProblems found;
    for (manifest::CheckedObject& object : objects) {
        for (const manifest::PodSpecRef& pod : manifest::pod_specs(object.document)) {
            if (object.job) {
                const jobs::ReplicaSpec* spec = object.job->replica(pod.replica_type);
                if (spec != nullptr && spec->replicas == 0) continue;
            }
            const std::optional<kube::Pod> made = made_pod(object.job, pod);
            for (const manifest::ContainerRef& ref : manifest::containers(pod)) {
                const kube::Container* container =
                    container_named(made, kube::string_at(*ref.container, "name"));
                const std::vector<MountPoint> mounts = mount_points(ref, container);
                check_container(object.document, pod, ref, container, mounts, machine, surroundings,
                                found);
                check_mount_points(object.document, mounts, machine, surroundings, found.always);
            }
            check_volumes(object.document, pod, machine, surroundings, found.always);
            if (const auto started = object.job ? made : written_pod(pod))
                check_refusals(object.document, pod, *started, found.always);
        }
    }
    std::ranges::move(
        check_gangs(objects, [&](const std::string& name) { return offered(machine, name); }),
        std::back_inserter(found.always));
    return found;
}

}  // namespace muster::cli
