#include "runtime/internal/pod/pod_access.h"

#include <algorithm>

#include "runtime/internal/files/log_reader.h"

namespace muster::runtime {

Result<std::unique_ptr<kube::TextStream>> PodAccess::logs(const kube::LogOptions& options) {
    const auto& records = pod_.machine.facts().containers;
    const std::string& pod_name = pod_.name();
    const std::string& name = options.container;
    auto record = std::ranges::find(records, name, &ContainerRecord::name);
    if (record == records.end())
        return Error(Code::kBadRequest,
                     fmt::format("container {} is not valid for pod {}", name, pod_name));
    const auto index = static_cast<std::size_t>(record - records.begin());
    const ContainerRun* run = pod_.runs.newest(index);
    if (options.previous) {
        run = pod_.runs.previous(index);
        if (run == nullptr || record->restarts == 0)
            return Error(Code::kBadRequest,
                         fmt::format("previous terminated container \"{}\" in pod \"{}\" not found",
                                     name, pod_name));
        return open_log(run->log(), &pod_.node.log_watch, options, pod_.node.clock.wall_now());
    }
    const bool never_ran = record->state == ContainerRecord::State::kWaiting && !record->last;
    if (run == nullptr || never_ran)
        return Error(Code::kBadRequest,
                     fmt::format("container \"{}\" in pod \"{}\" is waiting to start: {}", name,
                                 pod_name, record->waiting_reason));
    return open_log(run->log(), &pod_.node.log_watch, options, pod_.node.clock.wall_now());
}

Result<std::unique_ptr<kube::CommandSession>> PodAccess::exec(const kube::CommandOptions& options) {
    const auto& records = pod_.machine.facts().containers;
    const auto record = std::ranges::find(records, options.container, &ContainerRecord::name);
    if (record == records.end() || record->state != ContainerRecord::State::kRunning ||
        !pod_.sandbox)
        return Error(Code::kBadRequest,
                     fmt::format("container not found (\"{}\")", options.container));
    const ContainerRun& run = *pod_.runs.newest(static_cast<std::size_t>(record - records.begin()));
    return options.command.empty() ? pod_.execs.attach(*pod_.sandbox, run.id(), options)
                                   : pod_.execs.open(*pod_.sandbox, run.id(), options);
}

Result<PodPort> PodAccess::port(std::uint16_t number) {
    if (!pod_.sandbox)
        return Error(Code::kUnavailable, fmt::format("pod {} does not run", pod_.name()));
    PodPort port{.network = {}, .addresses = {}, .number = number};
    if (pod_.node.surroundings.namespaces) {
        TRY(port.network, pod_.sandbox->network());
        port.addresses = {"127.0.0.1", "::1"};
    } else {
        // The machine's localhost is not the pod's alone.
        port.addresses = {pod_.machine.facts().pod_ip, "127.0.0.1"};
    }
    return port;
}

std::vector<UsageSample::Container> PodAccess::used(const ProcessTable& processes) const {
    std::vector<UsageSample::Container> containers;
    for (std::size_t index = 0; index < pod_.runs.containers(); ++index) {
        const ContainerRun* const run = pod_.runs.newest(index);
        if (run == nullptr) continue;
        const auto program = processes.find(run->process());
        if (program == processes.end()) continue;
        // Its supervisor has reaped the container's processes that have ended.
        const TreeUsage used = usage_of_tree(processes, program->second.parent);
        containers.push_back({.namespace_ = pod_.namespace_(),
                              .pod = pod_.name(),
                              .uid = pod_.pod->metadata.uid,
                              .name = pod_.container(index).name,
                              .run = run->id(),
                              .cpu = used.cpu,
                              .memory_bytes = used.memory_bytes});
    }
    return containers;
}

}  // namespace muster::runtime
