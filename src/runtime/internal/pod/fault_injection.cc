#include "runtime/internal/pod/fault_injection.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>

#include "base/parse_number.h"
#include "process/process_tree.h"

namespace muster::runtime {

namespace {

/// The environment when the process started; "" if it is gone.
std::string environment_of(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/environ", pid), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The value of a variable in the content of /proc/PID/environ.
std::optional<int> number_in(std::string_view environment, std::string_view name) {
    while (!environment.empty()) {
        const std::string_view entry = environment.substr(0, environment.find('\0'));
        environment.remove_prefix(std::min(entry.size() + 1, environment.size()));
        if (!entry.starts_with(name) || !entry.substr(name.size()).starts_with('=')) continue;
        const std::string_view value = entry.substr(name.size() + 1);
        if (const auto number = parse_number<int>(value)) return number;
    }
    return std::nullopt;
}

}  // namespace

Result<const ContainerRun*> FaultInjection::running_program() const {
    const auto& records = pod_.machine.facts().containers;
    for (std::size_t index = 0; index < records.size(); ++index) {
        if (records[index].init || records[index].ephemeral ||
            records[index].state != ContainerRecord::State::kRunning)
            continue;
        const ContainerRun* const run = pod_.runs.newest(index);
        if (run != nullptr && run->process() != 0) return run;
    }
    return Error(Code::kUnavailable,
                 fmt::format("no program of pod {} runs now: it has ended, or is about to start",
                             pod_.name()));
}

std::vector<pid_t> FaultInjection::processes() const {
    const ProcessTable table = read_process_table();
    std::vector<pid_t> found;
    for (std::size_t index = 0; index < pod_.runs.containers(); ++index) {
        const ContainerRun* const run = pod_.runs.newest(index);
        if (run == nullptr) continue;
        const auto program = table.find(run->process());
        if (program == table.end()) continue;
        std::ranges::copy(process::descendants_of(program->second.parent),
                          std::back_inserter(found));
    }
    return found;
}

Result<pid_t> FaultInjection::signal(PodSignal signal) {
    TRY(const ContainerRun* const program, running_program());
    if (!signal.rank) {
        const pid_t pid = program->process();
        program->signal(signal.number);
        return pid;
    }
    std::set<int> ranks;
    // From the top: processes that a worker starts inherit its variables.
    for (const pid_t pid : processes()) {
        const std::string environment = environment_of(pid);
        const std::optional<int> rank = number_in(environment, "RANK");
        if (!rank || !number_in(environment, "LOCAL_RANK")) continue;
        ranks.insert(*rank);
        if (*rank != *signal.rank) continue;
        if (::kill(pid, signal.number) == 0) return pid;
        return system_error(fmt::format("sending a signal to process {}", pid), errno);
    }
    return Error(
        Code::kNotFound,
        ranks.empty()
            ? fmt::format("no process of pod {} is a worker with a rank of its own", pod_.name())
            : fmt::format("pod {} has no rank {}; it has {}", pod_.name(), *signal.rank,
                          fmt::join(ranks, ", ")));
}

/// Repeats until no process is left that could have started another.
void FaultInjection::pause() {
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

Result<void> FaultInjection::begin_fault(PodFault fault) {
    if (faults_.contains(fault))
        return Error(Code::kAlreadyExists,
                     fmt::format("pod {} is {} already", pod_.name(),
                                 fault == PodFault::kPause ? "paused" : "cut off"));
    TRY([[maybe_unused]] const ContainerRun* const program, running_program());
    if (fault == PodFault::kPause)
        pause();
    else
        TRY_VOID(pod_.sandbox->cut_off());
    faults_.insert(fault);
    return {};
}

Result<void> FaultInjection::end_fault(PodFault fault) {
    if (faults_.erase(fault) == 0) return {};
    if (fault == PodFault::kPartition)
        return pod_.sandbox ? pod_.sandbox->reconnect() : Result<void>();
    for (const pid_t pid : processes()) ::kill(pid, SIGCONT);
    return {};
}

}  // namespace muster::runtime
