#include <algorithm>

#include "runtime/internal/files/log_reader.h"
#include "runtime/internal/pod/pod_worker.h"

// What clients ask of a pod: logs, commands, ports, usage. None of it changes the pod's life.

namespace muster::runtime {

Result<std::unique_ptr<kube::TextStream>> PodWorker::logs(const kube::LogOptions& options) {
    const auto& records = machine_.facts().containers;
    const std::string& pod_name = pod_->metadata.name;
    const std::string& name = options.container;
    auto record = std::ranges::find(records, name, &ContainerRecord::name);
    if (record == records.end())
        return Error(Code::kBadRequest,
                     fmt::format("container {} is not valid for pod {}", name, pod_name));
    const auto& runs = runs_[static_cast<std::size_t>(record - records.begin())];
    if (options.previous) {
        if (runs.size() < 2 || record->restarts == 0)
            return Error(Code::kBadRequest,
                         fmt::format("previous terminated container \"{}\" in pod \"{}\" not found",
                                     name, pod_name));
        return open_log(runs[runs.size() - 2]->log(), &node_.log_watch, options,
                        node_.clock.wall_now());
    }
    const bool never_ran = record->state == ContainerRecord::State::kWaiting && !record->last;
    if (runs.empty() || never_ran)
        return Error(Code::kBadRequest,
                     fmt::format("container \"{}\" in pod \"{}\" is waiting to start: {}", name,
                                 pod_name, record->waiting_reason));
    return open_log(runs.back()->log(), &node_.log_watch, options, node_.clock.wall_now());
}

Result<std::unique_ptr<kube::CommandSession>> PodWorker::exec(const kube::CommandOptions& options) {
    const auto& records = machine_.facts().containers;
    const auto record = std::ranges::find(records, options.container, &ContainerRecord::name);
    if (record == records.end() || record->state != ContainerRecord::State::kRunning || !sandbox_)
        return Error(Code::kBadRequest,
                     fmt::format("container not found (\"{}\")", options.container));
    const auto& runs = runs_[static_cast<std::size_t>(record - records.begin())];
    return options.command.empty() ? execs_.attach(*sandbox_, runs.back()->id(), options)
                                   : execs_.open(*sandbox_, runs.back()->id(), options);
}

Result<PodPort> PodWorker::port(std::uint16_t number) {
    if (!sandbox_)
        return Error(Code::kUnavailable, fmt::format("pod {} does not run", pod_->metadata.name));
    PodPort port{.network = {}, .addresses = {}, .number = number};
    if (node_.surroundings.namespaces) {
        TRY(port.network, sandbox_->network());
        port.addresses = {"127.0.0.1", "::1"};
    } else {
        // The machine's localhost is not the pod's alone.
        port.addresses = {machine_.facts().pod_ip, "127.0.0.1"};
    }
    return port;
}

std::vector<UsageSample::Container> PodWorker::used(const ProcessTable& processes) const {
    std::vector<UsageSample::Container> containers;
    for (std::size_t index = 0; index < runs_.size(); ++index) {
        if (runs_[index].empty()) continue;
        const ContainerRun& run = *runs_[index].back();
        const auto program = processes.find(run.process());
        if (program == processes.end()) continue;
        // Its supervisor has waited for whatever the container had and has no more.
        const TreeUsage used = usage_of_tree(processes, program->second.parent);
        containers.push_back({.namespace_ = pod_->metadata.namespace_,
                              .pod = pod_->metadata.name,
                              .uid = pod_->metadata.uid,
                              .name = container(index).name,
                              .run = run.id(),
                              .cpu = used.cpu,
                              .memory_bytes = used.memory_bytes});
    }
    return containers;
}

}  // namespace muster::runtime
