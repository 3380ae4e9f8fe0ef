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

// The messages between the fault injection verbs and a run, a line of JSON each, and the choice of
// the pod. Both ends are the same program, so the format is private. Pure.

namespace muster::cli {

enum class FaultKind { kKill, kPause, kPartition };
/// "kill", the name on the command line.
std::string_view name_of(FaultKind verb);

/// A pod of a job, as reported by its run.
struct RunPod {
    std::size_t run = 0;  ///< which of the runs of this machine; not sent by the run
    std::string namespace_;
    std::string job;
    std::string replica;  ///< "worker-1", "launcher"
    std::string type;     ///< "worker"
    std::string name;
    std::string phase;

    bool ended() const { return phase == "Succeeded" || phase == "Failed"; }
    friend bool operator==(const RunPod&, const RunPod&) = default;
};

/// nullopt for a pod that belongs to no job.
std::optional<RunPod> run_pod(const json::value& pod);

struct FaultTarget {
    std::string namespace_;  ///< empty: any
    std::string job;
    std::string
        replica;  ///< "worker-1", a type of which there is one, a pod's name; empty: the only one
};

/// The index in `pods` of the one that is meant. The error says which there are.
Result<std::size_t> choose_pod(const std::vector<RunPod>& pods, const FaultTarget& target);

/// "KILL", "SIGKILL", "sigkill" or "9".
std::optional<int> parse_signal(std::string_view text);

/// Applied to a pod by the run that receives it. A pause or a partition lasts until the sender
/// closes the connection.
struct FaultRequest {
    FaultKind kind = FaultKind::kKill;
    std::string namespace_;
    std::string pod;
    runtime::PodSignal signal;  ///< of kKill
};

/// The request for the list of pods.
std::string list_line();
std::string order_line(const FaultRequest& order);
/// nullopt: a request for the list of pods.
Result<std::optional<FaultRequest>> read_request(std::string_view line);

std::string pods_line(const std::vector<RunPod>& pods);
/// The answer to a request that was carried out; for a signal, with the process that got it.
std::string done_line(std::int64_t process = 0);
std::string error_line(const Error& error);

struct FaultReply {
    std::vector<RunPod> pods;
    std::int64_t process = 0;
};
/// An error that the run reported is an error here.
Result<FaultReply> read_answer(std::string_view line);

}  // namespace muster::cli
