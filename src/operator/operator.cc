#include "operator/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "base/log.h"
#include "kube/client.h"
#include "kube/event_recorder.h"
#include "kube/informer.h"
#include "kube/work_queue.h"
#include "operator/internal/executor.h"
#include "operator/internal/planner.h"
#include "operator/internal/records.h"
#include "operator/internal/table.h"

namespace muster::operators {
namespace {

std::string dependents_selector() {
    std::string names;
    for (const jobs::JobKind* kind : jobs::all_kinds())
        names += (names.empty() ? "" : ",") + kind->controller_name();
    return fmt::format("{} in ({})", jobs::labels::kOperatorName, names);
}

/// "PyTorchJob/default/demo": one queue serves all kinds.
std::string queue_key(std::string_view kind, std::string_view key) {
    return fmt::format("{}/{}", kind, key);
}

}  // namespace

struct Operator::Impl {
    /// Everything of one job kind.
    struct Kind {
        const jobs::JobKind* kind;
        std::unique_ptr<kube::Informer<JobPtr>> informer;
        std::unique_ptr<kube::EventRecorder> recorder;
    };
    /// What a pass wrote and the watch has not shown yet.
    struct Written {
        std::string base_version;  ///< what the status was written over
        std::string version;       ///< what it became
        jobs::JobStatus status;
    };

    Impl(asio::any_io_executor executor, kube::Transport& transport, Clock& the_clock, Rng& rng,
         OperatorOptions the_options)
        : options(std::move(the_options)),
          clock(the_clock),
          tasks(std::move(executor)),
          client(transport, "muster-operator"),
          queue(clock, tasks),
          run(client, clock, tasks, table, options.parallel_writes),
          pods(client, clock, rng, kube::types::kPods, dependents_options(), project_pod),
          services(client, clock, rng, kube::types::kServices, dependents_options(),
                   project_service) {
        for (const jobs::JobKind* kind : jobs::all_kinds()) add_kind(*kind, rng);
        pods.on_change([this](const std::string&, const PodPtr* before, const PodPtr* after) {
            pod_changed(before, after);
        });
        services.on_change(
            [this](const std::string&, const ServicePtr* before, const ServicePtr* after) {
                table.apply(before, after);
                if (before != nullptr) add((*before)->namespace_, (*before)->owner);
                if (after != nullptr) add((*after)->namespace_, (*after)->owner);
            });
    }

    kube::ListOptions dependents_options() const {
        kube::ListOptions list = job_options();
        list.label_selector = dependents_selector();
        return list;
    }
    kube::ListOptions job_options() const {
        kube::ListOptions list;
        list.namespace_ = options.namespace_;
        return list;
    }

    void add_kind(const jobs::JobKind& kind, Rng& rng) {
        Kind& added = kinds[kind.resource.kind];
        added.kind = &kind;
        added.informer = std::make_unique<kube::Informer<JobPtr>>(
            client, clock, rng, kind.resource, job_options(),
            [&kind](const json::value& object) { return project_job(kind, object); });
        added.informer->on_change(
            [this, &kind](const std::string& key, const JobPtr*, const JobPtr*) {
                queue.add(queue_key(kind.resource.kind, key));
            });
        added.recorder = std::make_unique<kube::EventRecorder>(client, clock, rng, tasks,
                                                               kind.controller_name());
    }

    void add(const std::string& ns, const OwnerId& owner) {
        queue.add(queue_key(owner.kind, ns + "/" + owner.name));
    }

    const JobPtr* find_job(const std::string& kind, const std::string& key) const {
        auto it = kinds.find(kind);
        return it == kinds.end() ? nullptr : it->second.informer->find(key);
    }

    void pod_changed(const PodPtr* before, const PodPtr* after) {
        table.apply(before, after);
        if (before != nullptr) add((*before)->namespace_, (*before)->owner);
        if (after == nullptr) return;
        const PodRecord& pod = **after;
        add(pod.namespace_, pod.owner);
        if (before == nullptr && !pods.has_synced()) return;
        const JobPtr* job = find_job(pod.owner.kind, pod.namespace_ + "/" + pod.owner.name);
        if (job == nullptr || (*job)->uid() != pod.owner.uid) return;
        for (JobEvent& event : pod_news(before == nullptr ? nullptr : before->get(), pod))
            kinds.at(pod.owner.kind)
                .recorder->record(reference_to(**job), event.type, std::move(event.reason),
                                  std::move(event.message));
    }

    Task<void> work() {
        for (;;) {
            const std::string key = co_await queue.next();
            const bool complete = co_await pass(key);
            if (complete)
                queue.forget(key);
            else
                queue.add_failed(key);
            queue.done(key);
        }
    }

    /// One look at one job. False: something failed and wants another try.
    Task<bool> pass(std::string key) {
        const std::size_t slash = key.find('/');
        auto kind = kinds.find(key.substr(0, slash));
        if (kind == kinds.end()) co_return true;
        const JobPtr* found = kind->second.informer->find(key.substr(slash + 1));
        if (found == nullptr) {
            written.erase(key);
            warned_edits.erase(key);
            co_return true;
        }
        const JobPtr job = *found;
        if (job->metadata.deleting() || job->managed_elsewhere) co_return true;

        table.expire(job->uid(), clock.now());
        std::string version = job->metadata.resource_version;
        Plan next = make_plan(key, *job, version);
        if (next.empty()) co_return true;
        kube::EventRecorder& recorder = *kind->second.recorder;
        Execution done = co_await run.execute(job, version, std::move(next), recorder);

        if (done.status) {
            written[key] = {.base_version = std::move(version),
                            .version = std::move(done.resource_version),
                            .status = *std::move(done.status)};
        }
        if (const Instant until = table.expire(job->uid(), clock.now()); until != Instant::max())
            queue.add_at(key, until);
        co_return done.complete;
    }

    /// Also moves `version` to the revision that the plan's status builds upon.
    Plan make_plan(const std::string& key, const JobRecord& job, std::string& version) {
        const jobs::JobStatus* status = &job.status;
        if (auto it = written.find(key); it != written.end()) {
            // Nothing can lie between the two revisions, so a cache that shows the first is merely
            // late; anything else it shows is the truth.
            if (it->second.base_version == version) {
                status = &it->second.status;
                version = it->second.version;
            } else {
                written.erase(it);
            }
        }
        if (job.job.has_value()) {
            Plan made = plan(*job.job, *status, table.of(job.uid()), clock.wall_now());
            if (status->start_time.empty() && made.status && !made.status->start_time.empty())
                std::ranges::move(warning_events(job.warnings), std::back_inserter(made.events));
            return made;
        }
        Plan invalid = plan_invalid(job, *status, job.job.error(), clock.wall_now());
        if (!invalid.status && !invalid.events.empty()) {
            // An edit that is not in effect is told once and not at every event of its pods.
            const std::int64_t generation = job.metadata.generation.value_or(0);
            auto [warned, first] = warned_edits.try_emplace(key, generation);
            if (!first && warned->second == generation) invalid.events.clear();
            warned->second = generation;
        }
        return invalid;
    }

    OperatorOptions options;
    Clock& clock;
    TaskGroup tasks;
    kube::Client client;
    kube::WorkQueue queue;
    Table table;
    Executor run;
    kube::Informer<PodPtr> pods;
    kube::Informer<ServicePtr> services;
    std::map<std::string, Kind, std::less<>> kinds;
    std::unordered_map<std::string, Written> written;
    std::unordered_map<std::string, std::int64_t> warned_edits;
};

Operator::Operator(asio::any_io_executor executor, kube::Transport& transport, Clock& clock,
                   Rng& rng, OperatorOptions options)
    : impl_(
          std::make_unique<Impl>(std::move(executor), transport, clock, rng, std::move(options))) {}

Operator::~Operator() = default;

Task<Result<void>> Operator::start() {
    Impl& impl = *impl_;
    impl.pods.start(impl.tasks);
    impl.services.start(impl.tasks);
    for (auto& [name, kind] : impl.kinds) kind.informer->start(impl.tasks);
    co_await impl.pods.wait_synced();
    co_await impl.services.wait_synced();
    for (auto& [name, kind] : impl.kinds) co_await kind.informer->wait_synced();
    // Only now, when all of a job's pods are known: a pass before would create them again.
    for (int i = 0; i < impl.options.workers; ++i) impl.tasks.spawn("operator worker", impl.work());
    co_return Result<void>();
}

Task<void> Operator::stop() { co_await impl_->tasks.stop(); }

}  // namespace muster::operators
