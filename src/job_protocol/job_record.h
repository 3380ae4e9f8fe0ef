#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "job_protocol/failure.h"
#include "job_protocol/terms.h"

namespace muster::job_protocol {

/// How a job ended; also how it ended for one agent.
struct Verdict {
    enum class Kind : std::uint8_t {
        kSucceeded,
        kFailed,
        kExcluded,  ///< this node alone: the job continues without it
    };
    Kind kind = Kind::kSucceeded;
    std::string text = {};                    ///< for people
    std::optional<FailureReport> cause = {};  ///< of a failure: what happened first

    friend bool operator==(const Verdict&, const Verdict&) = default;
};

/// What of a job outlives its masters.
struct JobRecord {
    std::uint64_t epoch = 0;  ///< of the newest master; 0: there was none
    std::vector<Incident> incidents = {};
    std::vector<std::string> excluded = {};  ///< incarnations of agents that may not come back
    std::optional<Verdict> end = {};
    /// What the services of the master keep, by the service's name; none is empty.
    std::map<std::string, std::string> sections = {};
    /// That hold, where the master was told none and has those of its nodes.
    std::optional<Terms> terms = {};

    friend bool operator==(const JobRecord&, const JobRecord&) = default;
};

}  // namespace muster::job_protocol
