#include <algorithm>
#include <charconv>
#include <csignal>
#include <fstream>
#include <iterator>

#include "process/process_tree.h"
#include "runtime/internal/pod/pod_worker.h"

// What injected faults do to a pod. The pod's life goes on as if the machine had done it.

namespace muster::runtime {

namespace {

/// As it was when the process began; "" for one that is gone.
std::string environment_of(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/environ", pid), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The value of a variable in what stands in /proc/PID/environ.
std::optional<int> number_in(std::string_view environment, std::string_view name) {
    while (!environment.empty()) {
        const std::string_view entry = environment.substr(0, environment.find('\0'));
        environment.remove_prefix(std::min(entry.size() + 1, environment.size()));
        if (!entry.starts_with(name) || !entry.substr(name.size()).starts_with('=')) continue;
        const std::string_view value = entry.substr(name.size() + 1);
        int number = 0;
        const auto [end, failed] =
            std::from_chars(value.data(), value.data() + value.size(), number);
        if (failed == std::errc() && end == value.data() + value.size()) return number;
    }
    return std::nullopt;
}

}  // namespace

/// That of its first main container which runs.
Result<const ContainerRun*> PodWorker::running_program() const {
    const auto& records = machine_.facts().containers;
    for (std::size_t index = 0; index < runs_.size(); ++index) {
        if (records[index].init || records[index].state != ContainerRecord::State::kRunning)
            continue;
        if (!runs_[index].empty() && runs_[index].back()->process() != 0)
            return runs_[index].back().get();
    }
    return Error(Code::kUnavailable,
                 fmt::format("no program of pod {} runs now: it has ended, or is about to start",
                             pod_->metadata.name));
}

/// All that its containers run, of whatever parents: their supervisors are subreapers.
std::vector<pid_t> PodWorker::processes() const {
    const ProcessTable table = read_process_table();
    std::vector<pid_t> found;
    for (const auto& runs : runs_) {
        if (runs.empty()) continue;
        const auto program = table.find(runs.back()->process());
        if (program == table.end()) continue;
        std::ranges::copy(process::descendants_of(program->second.parent),
                          std::back_inserter(found));
    }
    return found;
}

Result<pid_t> PodWorker::signal(PodSignal signal) {
    TRY(const ContainerRun* const program, running_program());
    if (!signal.rank) {
        const pid_t pid = program->process();
        program->signal(signal.number);
        return pid;
    }
    std::set<int> ranks;
    // From the top: what a worker starts inherits its variables.
    for (const pid_t pid : processes()) {
        const std::string environment = environment_of(pid);
        const std::optional<int> rank = number_in(environment, "RANK");
        if (!rank || !number_in(environment, "LOCAL_RANK")) continue;
        ranks.insert(*rank);
        if (*rank != *signal.rank) continue;
        if (::kill(pid, signal.number) == 0) return pid;
        return system_error(fmt::format("sending a signal to process {}", pid), errno);
    }
    return Error(Code::kNotFound,
                 ranks.empty()
                     ? fmt::format("no process of pod {} is a worker with a rank of its own",
                                   pod_->metadata.name)
                     : fmt::format("pod {} has no rank {}; it has {}", pod_->metadata.name,
                                   *signal.rank, fmt::join(ranks, ", ")));
}

/// Until nobody is left who could have started one more.
void PodWorker::pause() {
    std::set<pid_t> stopped;
    for (bool more = true; more;) {
        more = false;
        for (const pid_t pid : processes()) {
            if (!stopped.insert(pid).second) continue;
            ::kill(pid, SIGSTOP);
            more = true;
        }
    }
}

Result<void> PodWorker::begin_fault(PodFault fault) {
    if (faults_.contains(fault))
        return Error(Code::kAlreadyExists,
                     fmt::format("pod {} is {} already", pod_->metadata.name,
                                 fault == PodFault::kPause ? "paused" : "cut off"));
    TRY([[maybe_unused]] const ContainerRun* const program, running_program());
    if (fault == PodFault::kPause)
        pause();
    else
        TRY_VOID(sandbox_->cut_off());
    faults_.insert(fault);
    return {};
}

Result<void> PodWorker::end_fault(PodFault fault) {
    if (faults_.erase(fault) == 0) return {};
    if (fault == PodFault::kPartition) return sandbox_ ? sandbox_->reconnect() : Result<void>();
    for (const pid_t pid : processes()) ::kill(pid, SIGCONT);
    return {};
}

}  // namespace muster::runtime
