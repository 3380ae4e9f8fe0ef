#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jobs/job.h"
#include "jobs/kind.h"
#include "operator/internal/integrations/desired_objects.h"
#include "operator/internal/members/members.h"
#include "operator/internal/restart_policy/restart_policy.h"

namespace muster::operators {

enum class CleanPolicy : std::uint8_t { kNone, kRunning, kAll };

/// What decisions read of one replica type.
struct TypeFacts {
    std::uint8_t type = 0;  ///< index into JobKind::replica_types
    RestartPolicy policy = RestartPolicy::kNever;
    std::int32_t wanted = 0;
    /// The type whose pods must all be ready before one of this type is made.
    std::optional<std::uint8_t> after = std::nullopt;
    bool restarts_all = false;  ///< a failure of this type restarts the whole job
    /// Restarts of one replica in a row after which its failure is final.
    std::optional<std::int32_t> most_in_a_row = std::nullopt;
};

/// What decisions read of a job's spec. A job's templates are most of its bytes and are needed only
/// to make pods, so they are not here.
struct JobFacts {
    const jobs::JobKind* kind = nullptr;
    std::vector<TypeFacts> types;  ///< those in the spec, in the kind's order
    jobs::SuccessPolicy success_policy;
    CleanPolicy clean = CleanPolicy::kNone;
    bool suspend = false;
    std::optional<std::int32_t> backoff_limit;
    std::optional<std::int32_t> ttl_seconds;
    std::optional<std::int64_t> deadline_seconds;
    bool owns_objects = false;  ///< besides pods, services and what integrations need
    IntegrationNeeds integrations;

    const std::string& name_of(std::uint8_t type) const { return kind->replica_types[type].name; }
    const TypeFacts* find(std::uint8_t type) const {
        for (const TypeFacts& facts : types)
            if (facts.type == type) return &facts;
        return nullptr;
    }
};
using FactsPtr = std::shared_ptr<const JobFacts>;

/// The facts of a job with defaults.
JobFacts facts_of(const jobs::Job& job);

/// As the status has them; of types that it doesn't have, the first ones. Null also if a status was
/// written and has none: the server prunes what it does not know, so that names are used again, as
/// those of other kinds are.
JobMembersPtr members_of(const JobFacts& facts, const jobs::JobStatus& status);

}  // namespace muster::operators
