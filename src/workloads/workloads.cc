#include "workloads/workloads.h"

#include "kube/client/client.h"
#include "workloads/internal/cron_jobs/cron_job_controller.h"
#include "workloads/internal/deployments/deployment_controller.h"
#include "workloads/internal/deployments/replica_set_controller.h"
#include "workloads/internal/deployments/replica_set_table.h"
#include "workloads/internal/jobs/job_controller.h"
#include "workloads/internal/jobs/job_table.h"
#include "workloads/internal/pods/pod_table.h"

namespace muster::workloads {

struct Workloads::Parts {
    Parts(asio::any_io_executor executor, kube::Transport& transport, Clock& clock, Rng& rng,
          SideThread* side_thread)
        : tasks(std::move(executor)),
          client(transport, "muster-workloads"),
          pods(client, clock, rng, tasks),
          jobs(client, clock, rng),
          job_controller(client, clock, rng, tasks, jobs, pods, side_thread),
          cron_job_controller(client, clock, rng, tasks, jobs, side_thread),
          sets(client, clock, rng),
          set_controller(client, clock, rng, tasks, sets, pods, side_thread),
          deployment_controller(client, clock, rng, tasks, sets, pods, side_thread) {
        pods.on_touched("ReplicaSet", [this](const PodFacts& pod, std::size_t siblings) {
            const kube::NamespacedName set{pod.name.namespace_, pod.owner_name};
            set_controller.pod_changed(set, siblings);
            deployment_controller.pod_changed(set, siblings);
        });
    }

    TaskGroup tasks;
    kube::Client client;
    PodTable pods;
    JobTable jobs;
    JobController job_controller;
    CronJobController cron_job_controller;
    ReplicaSetTable sets;
    ReplicaSetController set_controller;
    DeploymentController deployment_controller;
};

Workloads::Workloads(asio::any_io_executor executor, kube::Transport& transport, Clock& clock,
                     Rng& rng, SideThread* side_thread)
    : parts_(std::make_unique<Parts>(std::move(executor), transport, clock, rng, side_thread)) {}

Workloads::~Workloads() = default;

Task<Result<void>> Workloads::start() {
    Parts& parts = *parts_;
    parts.jobs.start(parts.tasks);
    parts.cron_job_controller.watch(parts.tasks);
    co_await parts.jobs.wait_synced();
    parts.sets.start(parts.tasks);
    parts.deployment_controller.watch(parts.tasks);
    co_await parts.cron_job_controller.wait_synced();
    co_await parts.sets.wait_synced();
    co_await parts.deployment_controller.wait_synced();
    // Pods of Jobs that were deleted while this did not run have to be let go.
    kube::ListOptions of_jobs;
    of_jobs.label_selector = "batch.kubernetes.io/job-name";
    of_jobs.limit = 1;
    CO_TRY(const kube::ListResult left,
           co_await parts.client.list(kube::types::kPods, std::move(of_jobs)));
    if (!left.items.empty()) co_await parts.pods.ready();
    parts.job_controller.start();
    parts.cron_job_controller.start();
    parts.set_controller.start();
    parts.deployment_controller.start();
    co_return Result<void>();
}

Task<void> Workloads::stop() { return parts_->tasks.stop(); }

}  // namespace muster::workloads
