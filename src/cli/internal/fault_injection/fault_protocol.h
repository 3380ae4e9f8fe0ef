#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/values/json.h"
#include "runtime/fault_injection.h"

// What the drill verbs and a run say to each other, a line of JSON each, and which pod is meant.
// Both ends are the same program, so the form is private. Pure.

namespace muster::cli {

enum class FaultKind { kKill, kPause, kPartition };
/// "kill", as it is called on the command line.
std::string_view name_of(FaultKind verb);

/// A pod of a job, as its run tells of it.
struct RunPod {
    std::size_t run = 0;  ///< which of the runs of this machine; not told by the run
    std::string namespace_;
    std::string job;
    std::string replica;  ///< "worker-1", "launcher"
    std::string type;     ///< "worker"
    std::string name;
    std::string phase;

    bool ended() const { return phase == "Succeeded" || phase == "Failed"; }
    friend bool operator==(const RunPod&, const RunPod&) = default;
};

/// nullopt for a pod of no job.
std::optional<RunPod> run_pod(const json::value& pod);

struct FaultTarget {
    std::string namespace_;  ///< empty: any
    std::string job;
    std::string
        replica;  ///< "worker-1", a type of which there is one, a pod's name; empty: the only one
};

/// The place in `pods` of the one that is meant. The error says which there are.
Result<std::size_t> choose_pod(const std::vector<RunPod>& pods, const FaultTarget& target);

/// "KILL", "SIGKILL", "sigkill" or "9".
std::optional<int> parse_signal(std::string_view text);

/// Done to a pod of the run that gets it. A pause or a partition lasts until the one who ordered it
/// sends no more.
struct FaultRequest {
    FaultKind kind = FaultKind::kKill;
    std::string namespace_;
    std::string pod;
    runtime::PodSignal signal;  ///< of kKill
};

/// Asks which pods there are.
std::string list_line();
std::string order_line(const FaultRequest& order);
/// nullopt: it asks which pods there are.
Result<std::optional<FaultRequest>> read_request(std::string_view line);

std::string pods_line(const std::vector<RunPod>& pods);
/// What was ordered is done; of a signal with the process that got it.
std::string done_line(std::int64_t process = 0);
std::string error_line(const Error& error);

struct FaultReply {
    std::vector<RunPod> pods;
    std::int64_t process = 0;
};
/// An error that the run told is one here.
Result<FaultReply> read_answer(std::string_view line);

}  // namespace muster::cli
