#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "jobs/scale_plan.h"
#include "operator/internal/cache/job_facts.h"
#include "operator/internal/cache/projections.h"

namespace muster::operators {

/// What one ScalePlan changes of a job, as its next status has it: the members, and what of the plan
/// outlives it. Both are written at once, so that a plan is executed once.
struct ScaleOrder {
    struct OfType {
        std::int32_t wanted = 0;                  ///< how many ranks from now on
        std::vector<std::int32_t> removed = {};   ///< ids that leave
        std::vector<std::int32_t> migrated = {};  ///< ids that leave once others have taken over
        OwnResourcesByRank own_resources = {};    ///< what these ranks request from now on

        friend bool operator==(const OfType&, const OfType&) = default;
    };
    std::string plan_name;                 ///< for people
    std::map<std::uint8_t, OfType> types;  ///< by TypeFacts::type; only those that it changes
    jobs::ExecutedPlan executed;

    const OfType* of(std::uint8_t type) const {
        const auto found = types.find(type);
        return found == types.end() ? nullptr : &found->second;
    }
};

/// What `plan`, an object with this uid and generation, changes of a job with this newest status, or
/// why it can't (kInvalid; the message is for the plan's status). The job has facts. A pure function;
/// what the whole manifest is needed for, as its limits, is for the caller to check. Counts are those
/// of the manifest: where its first worker is the chief, that is one of them. The nodes that the job
/// leaves out stay as they are (scaling/excluded_nodes.h).
Result<ScaleOrder> order_of(const jobs::ScalePlanSpec& plan, std::string uid,
                            std::int64_t generation, const JobRecord& job,
                            const jobs::JobStatus& status);

/// The members of the job after that order, for those types that it changes and the others.
std::map<std::string, jobs::ReplicaMembers> members_after(const ScaleOrder& order,
                                                          const JobRecord& job,
                                                          const jobs::JobStatus& status);

}  // namespace muster::operators
