#include "runtime/internal/pod/pod_access.h"

#include <algorithm>
#include <utility>

#include "runtime/internal/files/log_reader.h"
#include "runtime/internal/run_id.h"

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
    const std::uint32_t launches = pod_.runs.next(index).launch - 1;
    const ContainerRun* const run =
        options.previous ? pod_.runs.previous(index) : pod_.runs.newest(index);
    const bool ran = options.previous
                         ? record->restarts > 0
                         : record->state != ContainerRecord::State::kWaiting || record->last;
    std::shared_ptr<LogFile> log;
    if (ran && run != nullptr) {
        log = run->log();
    } else if (ran) {
        TRY(log, log_on_disk(index, options.previous ? launches - 1 : launches));
    }
    if (log != nullptr)
        return open_log(std::move(log), &pod_.node.log_watch, options, pod_.node.clock.wall_now());
    return Error(Code::kBadRequest,
                 options.previous
                     ? fmt::format("previous terminated container \"{}\" in pod \"{}\" not found",
                                   name, pod_name)
                     : fmt::format("container \"{}\" in pod \"{}\" is waiting to start: {}", name,
                                   pod_name, record->waiting_reason));
}

Result<std::shared_ptr<LogFile>> PodAccess::log_on_disk(std::size_t container,
                                                        std::uint32_t launch) const {
    if (launch == 0) return std::shared_ptr<LogFile>();
    const RunId id{.container = container, .launch = launch};
    const std::filesystem::path file = pod_.files.log(pod_.container(container).name, id.log());
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return std::shared_ptr<LogFile>();
    return LogFile::open(pod_.node.executor, file);
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
