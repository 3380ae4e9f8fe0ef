#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "jobs/job.h"
#include "jobs/kind.h"
#include "operator/internal/cache/owned_objects.h"
#include "operator/internal/cache/projections.h"

namespace muster::operators {

struct PodCreation {
    SlotId slot;
    jobs::RestartHistory restart_history;
    std::optional<std::int32_t> kept_rank = std::nullopt;  ///< as in jobs::ReplicaId
    kube::ResourceList own = {};  ///< what it requests in place of what its template has

    friend bool operator==(const PodCreation&, const PodCreation&) = default;
};

struct ServiceCreation {
    SlotId slot;
    std::int32_t in_a_row = 0;  ///< that went before it
    std::optional<std::int32_t> kept_rank = std::nullopt;

    friend bool operator==(const ServiceCreation&, const ServiceCreation&) = default;
};

/// One object to delete, and only this one: a successor of the same name has another uid.
struct Deletion {
    std::string name;
    std::string uid;
    SlotId slot;

    friend bool operator==(const Deletion&, const Deletion&) = default;
};

/// One object whose controller reference changes.
struct Claim {
    std::string name;
    std::string uid;

    friend bool operator==(const Claim&, const Claim&) = default;
};

struct IntegrationDeletion {
    IntegrationType type = IntegrationType::kVolcano;
    std::string uid;

    friend bool operator==(const IntegrationDeletion&, const IntegrationDeletion&) = default;
};

/// An owned object that someone else has deleted or changed, and that is made or corrected again
/// after a pause.
struct OwnedObjectPause {
    OwnedObjectId id;
    std::int32_t in_a_row = 0;  ///< that went, or were changed
    std::chrono::seconds length{};
    bool waits = false;  ///< the pause is not over
    /// It was changed after it had been corrected to the content of this hash; unset: it went.
    std::optional<std::size_t> corrected_to = std::nullopt;

    friend bool operator==(const OwnedObjectPause&, const OwnedObjectPause&) = default;
};

/// What one reconciliation of a job does. The executor writes creations and the status first, and
/// deletions only after the status, so that what a deleted pod has shown is never lost.
struct Plan {
    /// The owned objects are compared, and corrected if they differ, before anything else; no pod
    /// is made without them.
    bool ensure_owned_objects = false;
    std::vector<OwnedObjectPause> owned_object_pauses = {};
    /// The job's objects for other programs, which are among the owned objects.
    std::vector<IntegrationType> ensure_integrations = {};
    std::vector<IntegrationDeletion> delete_integrations = {};
    std::vector<PodCreation> create_pods = {};
    std::vector<std::string> excluded_nodes = {};  ///< names, on which none of these is placed
    std::vector<ServiceCreation> create_services = {};
    std::vector<Deletion> delete_pods = {};
    std::vector<Deletion> delete_services = {};
    std::vector<Claim> adopt_pods = {};
    std::vector<Claim> adopt_services = {};
    std::vector<Claim> release_pods = {};
    std::vector<Claim> release_services = {};
    /// Replicas whose batch Jobs have to release their pods.
    std::set<SlotId> end_batch_jobs_of = {};
    bool delete_job = false;
    std::optional<jobs::JobStatus> status = std::nullopt;  ///< unset: no change
    /// The status changes only in how many pods are in which state: it may wait a little for
    /// further changes of this kind.
    bool only_counts = false;
    std::vector<JobEvent> events = {};  ///< to be sent once the status is written
    bool more = false;                  ///< a plan has a limited size; the next one does the rest
    /// When the plan changes without any event: a deadline, the end of a TTL.
    std::optional<WallTime> requeue_at = std::nullopt;

    friend bool operator==(const Plan&, const Plan&) = default;

    bool claims() const {
        return !adopt_pods.empty() || !adopt_services.empty() || !release_pods.empty() ||
               !release_services.empty() || !end_batch_jobs_of.empty();
    }
    /// Whether there is nothing to write.
    bool empty() const {
        return !ensure_owned_objects && create_pods.empty() && create_services.empty() &&
               delete_pods.empty() && delete_services.empty() && delete_integrations.empty() &&
               !claims() && !delete_job && !status && events.empty();
    }
};

}  // namespace muster::operators
