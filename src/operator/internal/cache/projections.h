#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time/clock.h"
#include "jobs/kind.h"
#include "kube/client/event_recorder.h"
#include "kube/objects/object_meta.h"
#include "operator/internal/cache/job_facts.h"
#include "operator/internal/cache/job_uid.h"
#include "operator/internal/cache/packed_status.h"

namespace muster::operators {

// What the operator keeps of each object that it watches: the fields that decisions read. Records
// are immutable and shared, so that a plan may read one while the cache moves on.

enum class PodPhase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed, kUnknown };

/// The job that a pod or a service belongs to: from its controller reference, or, if it has no
/// controller, from its labels; then the uid is empty.
struct OwnerId {
    const jobs::JobKind* kind = nullptr;
    std::string name;
    JobUid uid;
};

/// The position of a replica within its job, in little memory; jobs::ReplicaId is its name.
struct SlotId {
    std::uint8_t type = 0;  ///< index into JobKind::replica_types
    std::int32_t index = 0;

    friend auto operator<=>(const SlotId&, const SlotId&) = default;
};

/// What pods and services have in common.
struct DependentRecord {
    std::string namespace_;
    std::string name;
    std::string uid;
    std::string resource_version;
    OwnerId owner;
    SlotId slot;  ///< from the labels
    WallTime created;
    bool deleting = false;
    /// The job controls it, but its labels no longer name the job.
    bool label_mismatch = false;

    bool is_orphan() const { return owner.uid.get().empty(); }
};

/// Why a pod makes no progress, in the words of an event.
struct PodProblem {
    std::string reason;
    std::string message;
    /// Since when a scheduler finds no node for it; unset: it has one, or none was looked for yet. The time
    /// at a scheduling gate is no part of it, where the gate was seen.
    std::optional<WallTime> refused_since = std::nullopt;
    std::uint16_t words_at = 0;  ///< where in the message the scheduler's words begin

    std::string_view scheduler_words() const { return std::string_view(message).substr(words_at); }

    friend bool operator==(const PodProblem&, const PodProblem&) = default;
};

struct PodRecord : DependentRecord {
    PodPhase phase = PodPhase::kPending;
    /// The replica's batch Job controls it (jobs::ReplicaType::had_batch_job). It counts as having
    /// no owner until that Job has released it.
    bool of_batch_job = false;
    /// Whether its name is the one that the operator gives to this replica.
    bool named_as_replica = true;
    bool ready =
        false;  ///< its condition Ready; only for kinds with an order of start or rising ids
    bool gated = false;     ///< waits at a scheduling gate: no node is looked for
    std::int32_t rank = 0;  ///< its index, unless its annotation says otherwise
    /// How often the kind's default container has ended so far, and its last exit code.
    std::int32_t exits = 0;
    std::optional<std::int32_t> exit_code;
    /// The current exit code of the default container; unset while it runs, and if the pod ended
    /// without its status (an eviction).
    std::optional<std::int32_t> final_exit_code;
    /// The memory that its default container could have, in bytes, if it failed because that was not
    /// enough; 0: it had no limit and requested nothing. Only for kinds whose ids rise.
    std::optional<std::int64_t> ran_out_of;
    /// Restarts of all containers in place, by the node.
    std::int32_t node_restarts = 0;
    jobs::RestartHistory restart_history;  ///< from the annotations
    /// When its last container ended, or when it was asked to go; unset if neither is known.
    std::optional<WallTime> ended_at;
    std::shared_ptr<const PodProblem> problem;  ///< null if it makes progress
    /// Only for kinds that have owned objects; null until it has one.
    std::shared_ptr<const std::string> address;

    bool ended() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
    /// Whether it runs, for the content of owned objects.
    bool runs() const { return phase == PodPhase::kRunning && !deleting; }
};
using PodPtr = std::shared_ptr<const PodRecord>;

struct ServiceRecord : DependentRecord {
    std::int32_t in_a_row = 0;  ///< from the annotation
};
using ServicePtr = std::shared_ptr<const ServiceRecord>;

struct JobRecord {
    const jobs::JobKind* kind = nullptr;
    std::string namespace_;
    std::string name;
    JobUid uid;
    std::string resource_version;
    std::int64_t generation = 0;
    bool deleting = false;
    /// If it is being deleted: what it owns is deleted before it (foreground), or kept (orphan).
    bool dependents_go_first = false;
    bool dependents_stay = false;
    /// Managed by another controller: never touched (training-operator pkg/controller.v1/common,
    /// ManagedByExternalController).
    bool managed_elsewhere = false;
    bool large = false;  ///< what is made of it is worth a SideThread
    PackedStatus status;
    /// The facts of its spec, shared by all records of one generation; null if it can't be run, and
    /// `problem` says why.
    FactsPtr facts;
    std::shared_ptr<const Error> problem;
    /// What the facts have beyond the manifest; null for nothing.
    std::shared_ptr<const Asked> asked;
    /// About its manifest; kept only until the job begins, when they are reported.
    std::vector<Cause> warnings;
};
using JobPtr = std::shared_ptr<const JobRecord>;

/// Whether the facts of a job have this beyond its manifest.
bool has_asked(const JobRecord& job, const Asked& asked);

/// Nothing for a pod or service that is not a replica of a kind that we know: one of another
/// program, or without usable labels.
/// `before`: what is known of the pod, or null; `now`: when this was seen.
std::optional<PodPtr> project_pod(const json::value& object,
                                  std::span<const jobs::JobKind* const> kinds = jobs::all_kinds(),
                                  const PodRecord* before = nullptr, WallTime now = {});
std::optional<ServicePtr> project_service(
    const json::value& object, std::span<const jobs::JobKind* const> kinds = jobs::all_kinds());

/// A job as the API has it, and the complete job if it had to be read.
struct ProjectedJob {
    JobPtr record;
    std::shared_ptr<const jobs::Job> job;  ///< null if `before` was enough, or it can't be run
};
/// `before`: an earlier record of the job, or null. The spec is read again only if it has changed
/// since, or what plans ask beyond it has. `platform`: where the job runs.
ProjectedJob project_job(const jobs::JobKind& kind, const json::value& object,
                         const JobRecord* before, const jobs::Platform& platform = {});

/// The metadata of any object; fields that can't be read are left empty.
kube::ObjectMeta metadata_of(const json::value& object);

/// The object reference of an event about a job.
kube::ObjectReference reference_to(const JobRecord& job);

/// An event about a job.
struct JobEvent {
    kube::EventType type = kube::EventType::kNormal;
    std::string reason;
    std::string message;

    friend bool operator==(const JobEvent&, const JobEvent&) = default;
};

/// Events about a change of a pod, for people who watch the job: a container ended, or something
/// keeps the pod from running. Once for each change; upstream repeats them at every reconcile.
std::vector<JobEvent> pod_news(const PodRecord* before, const PodRecord& after);

}  // namespace muster::operators
