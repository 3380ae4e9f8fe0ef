#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/client/client.h"
#include "kube/client/event_recorder.h"
#include "operator/internal/cache/projections.h"
#include "operator/internal/planning/plan.h"

namespace muster::operators {

/// Whether a status of the job can be written now: one follows on the other.
enum class StatusTurn : std::uint8_t {
    kFree,
    kTaken,  ///< one is on its way, or about to be
    kLost,   ///< one was not accepted: the next plan sees why
};

/// A status that was written: the job's resourceVersions before and after.
struct StatusWrite {
    std::string base;
    std::string version;
};

/// How an execution ended.
struct Execution {
    bool complete = true;   ///< false: something failed and has to be tried again
    bool cut = false;       ///< `enough` returned true before the end of the plan
    bool made_any = false;  ///< a pod or service
    bool status_written = false;
    bool job_removed = false;
    std::string resource_version;           ///< of the job, after the plan's status was written
    std::vector<StatusWrite> interim = {};  ///< of what was reached meanwhile, in this order
};

/// What the writes of one execution share, and how they report results. Each write holds it, so
/// that it outlives an execution that was cancelled. Thread: the executor's loop.
struct WriteContext {
    kube::Client client;  ///< of the job's own flow
    JobPtr record;
    std::shared_ptr<const jobs::Job> job;
    std::string status_version;  ///< what the next status is based on
    StatusTurn status_turn = StatusTurn::kFree;
    std::vector<JobEvent> events;  ///< of the plan, until they are told
    kube::EventRecorder& recorder;
    kube::ObjectReference about;
    Execution result;
    std::vector<std::string> created_pods = {};
    std::vector<std::string> created_services = {};
    std::vector<OwnedObjectPause> owned_object_pauses = {};
    std::vector<std::string> excluded_nodes = {};  ///< of the plan
    bool owned_objects_ensured = true;             ///< each owned object is as it should be
    bool pods_must_wait = false;                   ///< pods need one that is not
    std::set<std::string> obstructions = {};       ///< objects of other owners that are in the way

    const std::string& ns() const { return record->namespace_; }
    const JobUid& job_uid() const { return record->uid; }
    jobs::ReplicaId replica(SlotId slot, std::optional<std::int32_t> kept_rank = {}) const;
    std::string name_of(SlotId slot) const;

    void tell(kube::EventType type, std::string reason, std::string message);
    /// Those of the plan, once.
    void tell_events();
    /// One event for each; for many a single one, which is easier to read than a thousand and costs
    /// the API server one write.
    void tell_created(std::string_view what, const std::vector<std::string>& names);
    /// Reports a request that failed; most failures also lead to an event.
    void fail(std::string_view what, std::string_view name, const Error& error);
    void fail_and_tell(std::string_view what, std::string_view name, const Error& error,
                       std::string reason, std::string_view event);
};

}  // namespace muster::operators
