#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "jobs/kind.h"
#include "operator/internal/cache/projections.h"
#include "operator/internal/cache/table.h"
#include "operator/internal/planning/planner.h"

namespace muster::operators {

// Jobs and pods for the tests of this folder.

struct JobSketch {
    std::string name = "demo";
    int masters = 1;  ///< -1: the job has no such replica type
    int workers = 2;
    std::string policy = "OnFailure";
    std::string clean = "None";
    bool suspend = false;
    std::optional<std::int32_t> backoff_limit = std::nullopt;
    std::optional<std::int64_t> deadline_seconds = std::nullopt;
    std::optional<std::int32_t> ttl_seconds = std::nullopt;
    bool group = false;  ///< restarts as a group
};

/// A PyTorchJob as a user writes it.
json::object job_object(const JobSketch& sketch);

inline const jobs::JobKind& pytorch() { return *jobs::find_kind("kubeflow.org/v1", "PyTorchJob"); }

/// A kind that exists only here: a PyTorchJob whose ids rise. Its containers know their id and rank.
const jobs::JobKind& rising();

/// The same, loaded, with the identity that a server gives.
jobs::Job make_job(const JobSketch& sketch);
/// As the operator stores it.
JobRecord record_of(const jobs::Job& job);

struct PodSketch {
    std::string type = "Worker";
    int index = 0;
    PodPhase phase = PodPhase::kRunning;
    bool deleting = false;
    std::optional<std::int32_t> exit_code = std::nullopt;
    std::string uid = {};  ///< by default made from type and index
    std::int32_t node_restarts = 0;
    jobs::RestartHistory restart_history = {};
    bool ready = true;
    WallTime created = {};
    std::optional<WallTime> ended_at = std::nullopt;
};

PodPtr make_pod(const PodSketch& sketch);
ServicePtr make_service(const std::string& type, int index);

/// The pods as the caches show them, each with its service.
Dependents make_dependents(const std::vector<PodSketch>& pods);

/// A plan made from scratch: the dependents are configured first.
Plan plan(const jobs::Job& job, const jobs::JobStatus& status, Dependents& dependents, WallTime now,
          const Orphans& orphans = {});
Plan plan(const jobs::Job& job, const jobs::JobStatus& status, Dependents&& dependents,
          WallTime now);

inline constexpr WallTime kNow{std::chrono::seconds(1'700'000'000)};

/// A running pod for each replica of the default sketch.
extern const std::vector<PodSketch> kAllRunning;

/// The status of a job after one more reconciliation with these pods.
jobs::JobStatus status_after(const jobs::Job& job, Dependents& dependents,
                             jobs::JobStatus status = {});
jobs::JobStatus status_after(const jobs::Job& job, Dependents&& dependents,
                             jobs::JobStatus status = {});

/// The types of the conditions in order, with "=False" after those that are not true.
std::vector<std::string> summary(const jobs::JobStatus& status);
std::vector<std::string> names(const std::vector<Deletion>& deletions);
/// What is created: "Worker 0".
std::vector<std::string> replicas(const std::vector<PodCreation>& creations);
std::vector<std::string> replicas(const std::vector<ServiceCreation>& creations);
/// The reasons of the events.
std::vector<std::string> reasons(const Plan& plan);

}  // namespace muster::operators
