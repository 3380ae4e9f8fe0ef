#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "jobs/kind.h"
#include "operator/internal/planner.h"
#include "operator/internal/records.h"
#include "operator/internal/table.h"

namespace muster::operators {

// What the tests of this folder build their jobs and pods from.

struct JobSketch {
    std::string name = "demo";
    int masters = 1;  ///< -1: the job has no such replica type
    int workers = 2;
    std::string policy = "OnFailure";
    std::string clean = "None";
    bool suspend = false;
};

/// A PyTorchJob as a user writes it.
json::object job_object(const JobSketch& sketch);

inline const jobs::JobKind& pytorch() { return *jobs::find_kind("kubeflow.org/v1", "PyTorchJob"); }

/// The same, loaded, with the identity that a server gives.
jobs::Job make_job(const JobSketch& sketch);

struct PodSketch {
    std::string type = "Worker";
    int index = 0;
    PodPhase phase = PodPhase::kRunning;
    bool deleting = false;
    std::optional<std::int32_t> exit_code = std::nullopt;
    std::string uid = {};  ///< by default made from type and index
};

PodPtr make_pod(const PodSketch& sketch);
ServicePtr make_service(const std::string& type, int index);

/// The pods as the caches show them, each with its service.
Dependents make_dependents(const std::vector<PodSketch>& pods);

inline constexpr WallTime kNow{std::chrono::seconds(1'700'000'000)};

/// A running pod for each replica of the default sketch.
extern const std::vector<PodSketch> kAllRunning;

/// The status of a job that has been looked at once more, with these pods.
jobs::JobStatus status_after(const jobs::Job& job, const Dependents& dependents,
                             jobs::JobStatus status = {});

/// The types of the conditions in their order, "=False" behind those that are not true.
std::vector<std::string> summary(const jobs::JobStatus& status);
std::vector<std::string> names(const std::vector<Deletion>& deletions);
/// Of the events.
std::vector<std::string> reasons(const Plan& plan);

}  // namespace muster::operators
