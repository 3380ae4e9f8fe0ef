#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "jobs/kind.h"

namespace muster::cli {

/// A variable as a container will get it.
struct ExplainedVariable {
    std::string container;
    std::string name;
    std::string value;  ///< "<status.podIP>" and the like for one that is found out when it starts
    std::string rule;   ///< the reason for its value
    bool hidden = false;  ///< a later one of the same name counts

    friend bool operator==(const ExplainedVariable&, const ExplainedVariable&) = default;
};

/// A pod as the operator will create it.
struct ExplainedPod {
    jobs::ReplicaId replica;
    json::object pod;
    std::vector<ExplainedVariable> variables;  ///< by container, then by init container
};
Result<ExplainedPod> explain_pod(const jobs::Job& job, const jobs::ReplicaId& replica);

/// The name of a rank: "worker-3", "launcher".
std::string rank_name(const jobs::JobKind& kind, const jobs::ReplicaId& replica);
/// The replica of that name; nullopt if the job has none.
std::optional<jobs::ReplicaId> find_rank(const jobs::Job& job, std::string_view name);

/// A description of the whole job: the objects in addition to its pods, and for each type one pod,
/// the variables that all of them share, and those that differ.
Result<std::string> explanation_text(const jobs::Job& job);
/// One pod in full.
std::string explanation_text(const jobs::Job& job, const ExplainedPod& pod);

/// The same for programs, with every rank in full; with `only`, that rank.
Result<json::value> explanation_json(const jobs::Job& job,
                                     const std::optional<jobs::ReplicaId>& only);

}  // namespace muster::cli
