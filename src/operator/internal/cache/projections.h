#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/strong.h"
#include "jobs/kind.h"
#include "kube/client/event_recorder.h"
#include "kube/objects/object_meta.h"
#include "operator/internal/cache/job_facts.h"
#include "operator/internal/cache/packed_status.h"

namespace muster::operators {

// What the operator keeps of each object that it watches: the fields that decisions read. Records
// are immutable and shared, so that a plan may look at one while the cache moves on.

enum class PodPhase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed, kUnknown };

/// The uid of a job, which can't be taken for that of one of its pods.
using JobUid = Strong<struct JobUidTag, std::string>;

/// Which job a pod or a service belongs to: its controller reference, or the job that its labels
/// name when it has no controller; the uid is empty then.
struct OwnerId {
    const jobs::JobKind* kind = nullptr;
    std::string name;
    JobUid uid;
};

/// The place of a replica within its job, small; jobs::ReplicaId is its name.
struct SlotId {
    std::uint8_t type = 0;  ///< place in JobKind::replica_types
    std::int32_t index = 0;

    friend auto operator<=>(const SlotId&, const SlotId&) = default;
};

/// What is the same of pods and services.
struct DependentRecord {
    std::string namespace_;
    std::string name;
    std::string uid;
    std::string resource_version;
    OwnerId owner;
    SlotId slot;  ///< from the labels
    bool deleting = false;
    /// Controlled by the job, but its labels do not say so any more.
    bool label_mismatch = false;

    bool is_orphan() const { return owner.uid.get().empty(); }
};

/// Why a pod does not get on, as an event says it.
struct PodProblem {
    std::string reason;
    std::string message;

    friend bool operator==(const PodProblem&, const PodProblem&) = default;
};

struct PodRecord : DependentRecord {
    PodPhase phase = PodPhase::kPending;
    /// The replica's batch Job controls it (jobs::ReplicaType::had_batch_job). It counts as
    /// nobody's until that Job has let go of it.
    bool of_batch_job = false;
    /// Its name is the one that the operator gives to this replica.
    bool named_as_replica = true;
    bool ready = false;  ///< its condition Ready; of kinds alone that have an order of start
    /// How often the kind's default container has ended so far, and its last exit code.
    std::int32_t exits = 0;
    std::optional<std::int32_t> exit_code;
    /// The exit code of the default container as it stands now; unset while it runs, and when the
    /// pod ended without its status (an eviction).
    std::optional<std::int32_t> final_exit_code;
    /// Of all containers, in place, by the node.
    std::int32_t node_restarts = 0;
    jobs::RestartHistory restart_history;       ///< from the annotations
    std::shared_ptr<const PodProblem> problem;  ///< null when it gets on
    /// Of kinds alone that have owned objects; null until it has one.
    std::shared_ptr<const std::string> address;

    bool ended() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
    /// As owned objects count it.
    bool runs() const { return phase == PodPhase::kRunning && !deleting; }
};
using PodPtr = std::shared_ptr<const PodRecord>;

struct ServiceRecord : DependentRecord {};
using ServicePtr = std::shared_ptr<const ServiceRecord>;

struct JobRecord {
    const jobs::JobKind* kind = nullptr;
    std::string namespace_;
    std::string name;
    JobUid uid;
    std::string resource_version;
    std::int64_t generation = 0;
    bool deleting = false;
    /// Of one that is being deleted: what it owns goes before it (foreground), or stays (orphan).
    bool dependents_go_first = false;
    bool dependents_stay = false;
    /// Another controller's: never touched (training-operator pkg/controller.v1/common,
    /// ManagedByExternalController).
    bool managed_elsewhere = false;
    PackedStatus status;
    /// What the spec says, shared by all records of one generation; null when it can't be run, and
    /// `problem` says why.
    FactsPtr facts;
    std::shared_ptr<const Error> problem;
    /// About its manifest; only until it begins, which is when they are told.
    std::vector<Cause> warnings;
};
using JobPtr = std::shared_ptr<const JobRecord>;

/// Nothing for a pod or service that is not a replica of a kind that we know: another's, or without
/// usable labels.
std::optional<PodPtr> project_pod(const json::value& object);
std::optional<ServicePtr> project_service(const json::value& object);

/// A job as the API has it, and the whole of it where it had to be read.
struct ProjectedJob {
    JobPtr record;
    std::shared_ptr<const jobs::Job> job;  ///< null when `before` told enough, or it can't be run
};
/// `before`: an earlier record of the job, or null. What its spec says is read again only when the
/// spec has changed since. `platform`: where it runs.
ProjectedJob project_job(const jobs::JobKind& kind, const json::value& object,
                         const JobRecord* before, const jobs::Platform& platform = {});

/// "namespace/name", as an informer has it.
std::string cache_key(std::string_view namespace_, std::string_view name);
std::string cache_key_of(const json::value& object);
/// The metadata of any object; what can't be read is left empty.
kube::ObjectMeta metadata_of(const json::value& object);

/// What an event about a job points to.
kube::ObjectReference reference_to(const JobRecord& job);

/// An event about a job.
struct JobEvent {
    kube::EventType type = kube::EventType::kNormal;
    std::string reason;
    std::string message;

    friend bool operator==(const JobEvent&, const JobEvent&) = default;
};

/// What a change of a pod tells the people who watch the job: a container ended, or something keeps
/// the pod from running. Once for each change, where upstream repeats it at every reconcile.
std::vector<JobEvent> pod_news(const PodRecord* before, const PodRecord& after);

}  // namespace muster::operators
