#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kube/values/json.h"
#include "workloads/internal/pods/pod_facts.h"

namespace muster::workloads {

/// One rule of a podFailurePolicy.
struct FailureRule {
    std::string action;
    std::string container;                ///< empty: any
    std::optional<bool> codes_in;         ///< of onExitCodes: the operator is In, not NotIn
    std::vector<std::int64_t> codes;      ///< sorted
    std::vector<std::string> conditions;  ///< "DisruptionTarget=True"
};

/// One rule of a successPolicy.
struct SuccessRule {
    std::string indexes;                ///< empty: any
    std::optional<std::int64_t> count;  ///< how many of them are enough; unset: all
};

/// What decisions read of a batch Job's spec, with the defaults of the API.
struct JobSpec {
    std::int64_t parallelism = 1;
    std::optional<std::int64_t> completions;
    std::int64_t backoff_limit = 6;
    std::optional<std::int64_t> deadline_seconds;
    std::optional<std::int64_t> ttl_seconds;
    bool indexed = false;
    bool suspended = false;
    bool restarts_in_place = false;  ///< restartPolicy OnFailure
    /// A pod is replaced only when it has ended, not as soon as it is being deleted.
    bool replaces_only_failed = false;
    bool managed_elsewhere = false;
    bool has_failure_policy = false;
    std::vector<FailureRule> failure_rules;
    std::optional<std::int64_t> backoff_limit_per_index;  ///< of an Indexed Job
    std::optional<std::int64_t> most_failed_indexes;
    std::vector<SuccessRule> success_rules;  ///< of an Indexed Job
};

JobSpec read_job_spec(const json::object& job);

/// Whether the pod counts as failed: one that is being deleted does, unless the Job waits for its end.
bool has_failed(const JobSpec& spec, const PodFacts& pod);
/// Whether its index is one of an Indexed Job's; any pod of another Job has a valid one.
bool has_valid_index(const JobSpec& spec, const PodFacts& pod);

/// What a podFailurePolicy says of a pod that failed.
struct FailureVerdict {
    bool counts = true;
    bool fails_index = false;
    std::string fails_job = {};  ///< the message of the Job's condition; empty: it does not
};
FailureVerdict judge_failure(const JobSpec& spec, const PodFacts& pod);

}  // namespace muster::workloads
