#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/strong.h"
#include "jobs/job.h"
#include "jobs/kind.h"
#include "kube/event_recorder.h"
#include "kube/object_meta.h"

namespace muster::operators {

// What the operator keeps of each object that it watches: the fields that decisions read. Records
// are immutable and shared, so that a plan may look at one while the cache moves on.

enum class PodPhase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed, kUnknown };

/// The uid of a job, which can't be taken for that of one of its pods.
using JobUid = Strong<struct JobUidTag, std::string>;

/// Which job owns a pod or a service: its controller reference.
struct OwnerId {
    std::string kind;
    std::string name;
    JobUid uid;
};

struct PodRecord {
    std::string namespace_;
    std::string name;
    std::string uid;
    OwnerId owner;
    jobs::ReplicaId replica;  ///< from the labels
    PodPhase phase = PodPhase::kPending;
    bool deleting = false;
    /// How often the kind's default container has ended so far, and its last exit code.
    std::int32_t exits = 0;
    std::optional<std::int32_t> exit_code;
    /// The exit code of the default container as it stands now; unset while it runs, and when the
    /// pod ended without its status (an eviction).
    std::optional<std::int32_t> final_exit_code;
    /// Why the pod does not get on, as an event says it; both empty when it does.
    std::string trouble_reason;
    std::string trouble_message;
};
using PodPtr = std::shared_ptr<const PodRecord>;

struct ServiceRecord {
    std::string namespace_;
    std::string name;
    std::string uid;
    OwnerId owner;
    jobs::ReplicaId replica;
    bool deleting = false;
};
using ServicePtr = std::shared_ptr<const ServiceRecord>;

struct JobRecord {
    const jobs::JobKind* kind = nullptr;
    kube::ObjectMeta metadata;
    jobs::JobStatus status;
    /// Another controller's: never touched (training-operator pkg/controller.v1/common,
    /// ManagedByExternalController).
    bool managed_elsewhere = false;
    /// The defaulted job, or why it can't be run.
    Result<jobs::Job> job = Error(Code::kInternal, "not loaded");
    /// About its manifest; only until it begins, which is when they are told.
    std::vector<Cause> warnings;

    JobUid uid() const { return JobUid(metadata.uid); }
};
using JobPtr = std::shared_ptr<const JobRecord>;

/// Nothing for a pod or service that belongs to no replica of a kind that we know: no controller,
/// or no usable labels.
std::optional<PodPtr> project_pod(const json::value& object);
std::optional<ServicePtr> project_service(const json::value& object);
std::optional<JobPtr> project_job(const jobs::JobKind& kind, const json::value& object);

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
