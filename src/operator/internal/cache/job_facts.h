#pragma once

#include <cstdint>
#include <map>
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
    /// What the manifest has; nothing for a type that only the kind's defaults have. Differs from
    /// `wanted` where a plan has asked for another number, and where the defaults move replicas.
    std::optional<std::int32_t> written = std::nullopt;
    /// The type whose pods must all be ready before one of this type is made.
    std::optional<std::uint8_t> after = std::nullopt;
    bool restarts_all = false;  ///< a failure of this type restarts the whole job
    /// The program is ours, the job's master: the others outlive a death of it.
    bool own_program = false;
    bool services = false;  ///< each replica has a service of its own
    /// Restarts of one replica in a row after which its failure is final.
    std::optional<std::int32_t> most_in_a_row = std::nullopt;
};

/// Of kinds whose single replicas may have resources of their own.
struct ResourceFacts {
    /// What the templates have of these resources, by replica type.
    std::vector<kube::ResourceList> written;
    std::optional<jobs::MemoryPolicy> memory;  ///< unset: who ran out of memory gets no more
};

/// How long pods may wait for nodes, of kinds that say so.
struct PendingRules {
    jobs::PendingPolicy policy;
    std::string annotations;  ///< those that it depends on, as pending_annotations() has them
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
    bool has_own_plan = false;  ///< a ScalePlan that its master writes
    IntegrationNeeds integrations;
    std::shared_ptr<const PendingRules> pending;     ///< null: as long as it takes
    std::shared_ptr<const ResourceFacts> resources;  ///< null for kinds without ScalePlans

    const std::string& name_of(std::uint8_t type) const { return kind->replica_types[type].name; }
    const TypeFacts* find(std::uint8_t type) const {
        for (const TypeFacts& facts : types)
            if (facts.type == type) return &facts;
        return nullptr;
    }
};
using FactsPtr = std::shared_ptr<const JobFacts>;

/// What plans ask of a job's replicas beyond its manifest, by type.
using Asked = std::map<std::string, jobs::AskedReplicas>;
/// The part of it in a status that counts beside the manifest that these facts are of.
Asked asked_of(const JobFacts& facts, const jobs::JobStatus& status);

/// What the replica of a rank requests in place of what its template has, by these members.
kube::ResourceList own_amounts(const JobFacts& facts, std::uint8_t type, const Members& members,
                               std::int32_t rank);

/// The facts of a job with defaults.
JobFacts facts_of(const jobs::Job& job);

/// The values of the annotations on which JobKind::pending_policy depends, as one text. `value_of`: that
/// of a name, or "".
template <class F>
std::string pending_annotations(const jobs::JobKind& kind, F value_of) {
    std::string all;
    for (const std::string& name : kind.pending_annotations) all += value_of(name) + '\n';
    return all;
}

/// As the status has them; of types that it doesn't have, the first ones. Null also if a status was
/// written and has none: the server prunes what it does not know, so that names are used again, as
/// those of other kinds are.
JobMembersPtr members_of(const JobFacts& facts, const jobs::JobStatus& status);

}  // namespace muster::operators
