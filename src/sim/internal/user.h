#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/rng.h"
#include "kube/client/client.h"
#include "sim/internal/plans/drawn_scale_plan.h"
#include "sim/scenario.h"

namespace muster::sim {

/// A job or a plan as it was posted.
struct PostedJob {
    kube::ResourceType type;
    std::string namespace_;
    std::string name;
};

/// A user who posts jobs and meddles with them. Nothing stands between the user and the API, and
/// what fails (the job is gone) is left alone. Thread: one loop.
class User {
  public:
    User(kube::Transport& transport, std::uint64_t seed) : client_(transport, "user"), rng_(seed) {}

    kube::Client& client() { return client_; }
    const std::vector<PostedJob>& posted() const { return posted_; }

    /// Posts an object of any kind; jobs are remembered.
    Task<Result<void>> post(json::object object);

    Task<void> scale_a_job();
    /// Makes a ScalePlan of a job that has them, or changes or removes its last one.
    Task<void> plan_a_change();
    /// Returns which, to be resumed.
    Task<std::optional<PostedJob>> suspend_a_job();
    Task<void> resume(PostedJob job);
    Task<void> delete_a_pod();
    Task<void> delete_a_service();
    Task<void> delete_a_job();
    Task<void> annotate_a_job();

    /// Resumes what is suspended and deletes pods that never started.
    Task<void> set_right();

  private:
    std::optional<PostedJob> any_job();
    Task<bool> edit(PostedJob job, std::function<bool(json::object&)> change);
    Task<void> delete_any(kube::ResourceType type);
    Task<std::vector<WorkerPod>> workers_of(PostedJob job);
    Task<void> change_plan(PostedJob plan, json::object spec);

    kube::Client client_;
    Rng rng_;
    std::vector<PostedJob> posted_;
    std::map<std::string, PostedJob> last_plans_;  ///< by the name of their job
    int plans_made_ = 0;
};

}  // namespace muster::sim
