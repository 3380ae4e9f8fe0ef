#include "operator/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/log.h"
#include "base/time/restarting_task.h"
#include "kube/client/client.h"
#include "kube/client/controller.h"
#include "kube/client/event_recorder.h"
#include "kube/transport/outage_detecting_transport.h"
#include "operator/internal/cache/job_caches.h"
#include "operator/internal/execution/cascading_deleter.h"
#include "operator/internal/execution/executor.h"
#include "operator/internal/reconcile/job_reconciler.h"
#include "operator/internal/scaling/plan_runner.h"

namespace muster::operators {
namespace {

std::vector<const jobs::JobKind*> chosen_kinds(const OperatorOptions& options) {
    const std::vector<std::string>& names = options.kinds;
    std::vector<const jobs::JobKind*> chosen = options.more_kinds;
    for (const jobs::JobKind* kind : jobs::all_kinds())
        if (names.empty() || (std::ranges::find(names, kind->resource.kind) != names.end()))
            chosen.push_back(kind);
    return chosen;
}

/// Null if no kind has ScalePlans.
const jobs::JobKind* kind_with_plans(const std::vector<const jobs::JobKind*>& kinds) {
    const auto found = std::ranges::find_if(kinds, &jobs::JobKind::scale_plans);
    return found == kinds.end() ? nullptr : *found;
}

std::string why_unserved(const kube::ResourceType& type, const Error& refusal) {
    if (refusal.code() == Code::kNotFound)
        return fmt::format(
            "the server has no {} in version {}: install its definition with 'muster manifests "
            "--crds-only | kubectl apply -f -'; its jobs are served as soon as it is there",
            type.qualified(), type.version);
    return fmt::format("{}; its jobs are served as soon as that is allowed", refusal.message());
}

using Recorders = std::map<const jobs::JobKind*, std::unique_ptr<kube::EventRecorder>>;

}  // namespace

struct Operator::Impl {
    Impl(asio::any_io_executor loop, kube::Transport& transport, Clock& clock, Rng& rng,
         OperatorOptions the_options)
        : its_clock(clock),
          options(std::move(the_options)),
          kinds(chosen_kinds(options)),
          tasks(std::move(loop)),
          outage_detector(transport, clock, [this] { controller.retry_failed(); }),
          client(outage_detector, "muster-operator"),
          controller(
              clock, tasks, [this](std::string key) { return reconcile(std::move(key)); },
              [this](const std::string& key, Duration took, bool complete) {
                  tell_observer(key, took, complete);
              }),
          caches(client, clock, rng, tasks, cache_options(), cache_handlers()),
          executor(client, clock, tasks, caches.table(), options.parallel_writes,
                   options.announce_gangs, &caches.owned_objects(), &caches.integrations(),
                   options.side_thread),
          deleter(client, tasks, caches.table(), options.parallel_writes),
          scale_plans(make_scale_plans(rng)),
          reconciler(caches, executor, controller, clock,
                     {.counts_wait = options.counts_wait,
                      .check_consistency = options.check_consistency,
                      .observer = options.observer,
                      .scale_plans = scale_plans.get()},
                     make_recorders(clock, rng)) {}

    JobCaches::Options cache_options() const {
        jobs::Platform platform = options.platform;
        platform.gang_scheduler = options.gang_scheduler_name;
        return {.namespace_ = options.namespace_,
                .kinds = kinds,
                .platform = std::move(platform),
                .lists = options.lists,
                .side_thread = options.side_thread};
    }
    JobCaches::Handlers cache_handlers() {
        return {.job_changed = [this](const JobPtr* before,
                                      const JobPtr* after) { job_changed(before, after); },
                .touched = [this](const std::string& key) { controller.add(key); },
                .pod_changed =
                    [this](const PodPtr* before, const PodRecord& after) {
                        reconciler.pod_changed(before, after);
                    }};
    }
    std::unique_ptr<PlanRunner> make_scale_plans(Rng& rng) {
        const jobs::JobKind* kind = kind_with_plans(kinds);
        if (kind == nullptr) return nullptr;
        return std::make_unique<PlanRunner>(caches, client, controller, its_clock, rng, *kind,
                                            options.namespace_);
    }
    Recorders make_recorders(Clock& clock, Rng& rng) {
        Recorders recorders;
        for (const jobs::JobKind* kind : kinds)
            recorders[kind] = std::make_unique<kube::EventRecorder>(client, clock, rng, tasks,
                                                                    kind->controller_name());
        return recorders;
    }

    void job_changed(const JobPtr* before, const JobPtr* after) {
        const JobRecord& job = before != nullptr ? **before : **after;
        const std::string key = queue_key(job);
        const bool gone = after == nullptr || (*after)->uid != job.uid;
        if (options.removes_dependents) note_deletion(key, gone ? job : **after, gone);
        reconciler.job_changed(key, before, after);
    }

    /// `last`: the job before its deletion, or its present state.
    void note_deletion(const std::string& key, const JobRecord& last, bool gone) {
        if (last.managed_elsewhere || last.dependents_stay) return;
        if (gone || (last.deleting && last.dependents_go_first)) deleter.add(key, last);
    }

    /// Finds what is left of jobs that were deleted while no operator was running.
    Task<void> find_deleted_jobs() {
        for (const JobRecord& job : caches.missing_owners()) {
            const std::string key = queue_key(job);
            if (co_await deleter.add_if_gone(key, job)) controller.add(key);
        }
    }

    Task<bool> reconcile(std::string key) {
        const bool deleted = co_await deleter.reconcile(key);
        const bool reconciled = co_await reconciler.reconcile(key);
        co_return deleted&& reconciled;
    }

    void tell_observer(const std::string& key, Duration took, bool complete) {
        const jobs::JobKind* kind = caches.kind_of(key);
        if (options.observer != nullptr && kind != nullptr)
            options.observer->on_reconcile(*kind, took, complete);
    }

    Clock& its_clock;
    OperatorOptions options;
    std::vector<const jobs::JobKind*> kinds;
    TaskGroup tasks;
    kube::OutageDetectingTransport outage_detector;
    kube::Client client;
    kube::Controller controller;
    JobCaches caches;
    Executor executor;
    CascadingDeleter deleter;
    std::unique_ptr<PlanRunner> scale_plans;  ///< null if no kind has them
    JobReconciler reconciler;
};

Operator::Operator(asio::any_io_executor executor, kube::Transport& transport, Clock& clock,
                   Rng& rng, OperatorOptions options)
    : impl_(
          std::make_unique<Impl>(std::move(executor), transport, clock, rng, std::move(options))) {}

Operator::~Operator() = default;

Task<Result<void>> Operator::start() {
    Impl& impl = *impl_;
    co_await impl.caches.start();
    for (const Unserved& resource : unserved())
        log::error("a kind of jobs is not served",
                   {{"resource", resource.resource}, {"why", resource.why}});
    if (impl.scale_plans) impl.scale_plans->start(impl.tasks);
    if (impl.options.removes_dependents)
        spawn_restarting(impl.tasks, impl.its_clock, "leftovers of deleted jobs",
                         [&impl] { return impl.find_deleted_jobs(); });
    // Only now, when all of a job's pods are known: before, they would be created again.
    impl.controller.start(impl.options.workers);
    co_return Result<void>();
}

Task<void> Operator::stop() { co_await impl_->tasks.stop(); }

std::vector<Unserved> Operator::unserved() const {
    std::vector<Unserved> all;
    for (const JobCaches::Refused& refused : impl_->caches.refused())
        all.push_back({refused.type.qualified(), why_unserved(refused.type, refused.error)});
    return all;
}

std::size_t Operator::queue_depth() const { return impl_->controller.ready(); }

}  // namespace muster::operators
