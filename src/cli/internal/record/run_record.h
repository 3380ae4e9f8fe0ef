#pragma once

#include <sys/types.h>

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time/clock.h"
#include "kube/values/json.h"

namespace muster::cli {

/// The job, or bare pod, of a run.
struct RunSubject {
    std::string kind;
    std::string namespace_;
    std::string name;

    friend bool operator==(const RunSubject&, const RunSubject&) = default;
};

/// How a run ended.
struct RunEnd {
    WallTime at{};
    int status = 0;                ///< the exit status of `muster run`
    std::string result;            ///< "succeeded", "failed", "interrupted", "timed out", "deleted"
    std::vector<std::string> why;  ///< the lines of the verdicts
    int restarts = 0;
    std::uint64_t bytes = 0;  ///< of its folder

    friend bool operator==(const RunEnd&, const RunEnd&) = default;
};

/// What `run.json` says of a run.
struct RunRecord {
    std::string name;                  ///< "digits-3"
    std::vector<RunSubject> subjects;  ///< the run is called after the first
    std::vector<std::string> command;  ///< the words after "muster"
    std::string directory;             ///< where it was typed
    std::string version;
    std::string kubeconfig;  ///< of a run on a cluster; may be empty there, too
    std::string context;     ///< likewise
    bool on_cluster = false;
    bool in_background = false;
    pid_t pid = 0;
    WallTime started{};
    std::optional<RunEnd> end;  ///< unset: it lives, or its process was killed

    friend bool operator==(const RunRecord&, const RunRecord&) = default;
};

// Pure.
json::value to_json(const RunRecord& record);
/// kInvalid: it is not such a record.
Result<RunRecord> run_record(const json::value& value);

/// "digits" of "digits-3"; empty if it does not end with a number.
std::string job_of_run(const std::string& name);
/// 3 of "digits-3"; 0 if it does not end with one.
int number_of_run(const std::string& name);

}  // namespace muster::cli
