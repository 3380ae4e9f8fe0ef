#include "operator/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "kube/client/client.h"
#include "kube/client/event_recorder.h"
#include "kube/client/informer.h"
#include "kube/client/work_queue.h"
#include "kube/transport/outage_detecting_transport.h"
#include "operator/internal/cache/integration_caches.h"
#include "operator/internal/cache/job_spec_cache.h"
#include "operator/internal/cache/owned_object_caches.h"
#include "operator/internal/cache/projections.h"
#include "operator/internal/cache/table.h"
#include "operator/internal/execution/cascading_deleter.h"
#include "operator/internal/execution/executor.h"
#include "operator/internal/planning/consistency_check.h"
#include "operator/internal/planning/manifest_findings.h"
#include "operator/internal/planning/planner.h"
#include "operator/internal/reconcile/pending_status_writes.h"
#include "operator/internal/reconcile/requeue_timers.h"
#include "operator/internal/reconcile/status_coalescer.h"
#include "operator/observer/milestones.h"

namespace muster::operators {
namespace {

std::string dependents_selector(const std::vector<const jobs::JobKind*>& kinds) {
    std::string names;
    for (const jobs::JobKind* kind : kinds)
        names += (names.empty() ? "" : ",") + kind->controller_name();
    return fmt::format("{} in ({})", jobs::labels::kOperatorName, names);
}

std::vector<const jobs::JobKind*> chosen_kinds(const std::vector<std::string>& names) {
    std::vector<const jobs::JobKind*> chosen;
    for (const jobs::JobKind* kind : jobs::all_kinds())
        if (names.empty() || (std::ranges::find(names, kind->resource.kind) != names.end()))
            chosen.push_back(kind);
    return chosen;
}

std::string why_unserved(const kube::ResourceType& type, const Error& refusal) {
    if (refusal.code() == Code::kNotFound)
        return fmt::format(
            "the server has no {} in version {}: install its definition with 'muster manifests "
            "--crds-only | kubectl apply -f -'; its jobs are served as soon as it is there",
            type.qualified(), type.version);
    return fmt::format("{}; its jobs are served as soon as that is allowed", refusal.message());
}

/// Whole jobs that are kept for making their pods.
constexpr std::size_t kReadSpecs = 256;
constexpr std::size_t kNewSpecs = 4096;
/// So often a pass that goes on is asked whether another would do better.
constexpr Duration kLongReconcile = std::chrono::milliseconds(50);

}  // namespace

struct Operator::Impl {
    /// Everything of one resource.
    struct Kind {
        const jobs::JobKind* kind = nullptr;  ///< the version that it is read in
        std::unique_ptr<kube::Informer<JobPtr>> informer;
    };
    Impl(asio::any_io_executor executor, kube::Transport& transport, Clock& the_clock, Rng& rng,
         OperatorOptions the_options)
        : options(std::move(the_options)),
          clock(the_clock),
          tasks(std::move(executor)),
          outage_detector(transport, clock, [this] { queue.retry_failed(); }),
          client(outage_detector, "muster-operator"),
          queue(clock, tasks),
          timers(clock, tasks, [this](const std::string& key) { queue.add(key); }),
          job_specs(kReadSpecs, kNewSpecs),
          served(chosen_kinds(options.kinds)),
          owned_objects(client, clock, rng, served, options.namespace_,
                        [this](const OwnedObjectRecord& record) { owned_object_changed(record); }),
          integrations(client, clock, rng, tasks, options.namespace_, integration_handlers()),
          run(client, clock, tasks, table, options.parallel_writes, options.announce_gangs,
              &owned_objects, &integrations),
          deleter(client, tasks, table, options.parallel_writes),
          pods(client, clock, rng, kube::types::kPods, dependents_options(), project_pod, {},
               options.lists),
          services(client, clock, rng, kube::types::kServices, dependents_options(),
                   project_service, {}, options.lists),
          coalescer(options.counts_wait) {
        options.platform.gang_scheduler = options.gang_scheduler_name;
        for (const jobs::JobKind* kind : served) add_kind(*kind, rng);
        pods.on_change([this](const std::string&, const PodPtr* before, const PodPtr* after) {
            table.apply(before, after);
            if (before != nullptr) add(**before);
            if (after == nullptr) return;
            add(**after);
            tell_news(before, **after);
        });
        services.on_change(
            [this](const std::string&, const ServicePtr* before, const ServicePtr* after) {
                table.apply(before, after);
                if (before != nullptr) add(**before);
                if (after != nullptr) add(**after);
            });
    }

    IntegrationCaches::Handlers integration_handlers() {
        return {
            .changed = [this](const OwnedObjectRecord& record) { owned_object_changed(record); },
            .known =
                [this](IntegrationType type) {
                    compare_again([type](const IntegrationNeeds& needs) {
                        return std::ranges::find(needs.objects, type, &DesiredObject::type) !=
                               needs.objects.end();
                    });
                },
            .priorities_changed = [this] { compare_again(&IntegrationNeeds::reads_priorities); }};
    }
    /// The jobs with such needs are compared with their objects; rare enough for a walk over all
    /// jobs.
    template <class Concerned>
    void compare_again(Concerned concerned) {
        for (const auto& [name, kind] : kinds)
            for (const auto& [key, job] : kind.informer->items())
                if (job->facts && std::invoke(concerned, job->facts->integrations)) {
                    table.owned_object_changed(job->uid);
                    queue.add(key_of(*job));
                }
    }

    kube::ListOptions dependents_options() const {
        kube::ListOptions list = job_options();
        list.label_selector = dependents_selector(served);
        return list;
    }
    kube::ListOptions job_options() const {
        kube::ListOptions list;
        list.namespace_ = options.namespace_;
        return list;
    }

    void add_kind(const jobs::JobKind& kind, Rng& rng) {
        recorders[&kind] = std::make_unique<kube::EventRecorder>(client, clock, rng, tasks,
                                                                 kind.controller_name());
        Kind& added = kinds[kind.resource.kind];
        if (added.kind != nullptr) return;  // another version: the API shows all in the first
        added.kind = &kind;
        added.informer = std::make_unique<kube::Informer<JobPtr>>(
            client, clock, rng, kind.resource, job_options(),
            [this, &added](const json::value& object) -> std::optional<JobPtr> {
                return read_job(added, object);
            },
            std::vector<std::string>{}, options.lists);
        added.informer->on_change([this](const std::string&, const JobPtr* before,
                                         const JobPtr* after) { job_changed(before, after); });
    }

    JobPtr read_job(const Kind& kind, const json::value& object) {
        const JobPtr* known = kind.informer->find(cache_key_of(object));
        ProjectedJob made =
            project_job(jobs::kind_as_written(*kind.kind, object), object,
                        known == nullptr ? nullptr : known->get(), options.platform);
        if (made.job)
            job_specs.put(made.record->uid, made.record->generation, std::move(made.job),
                          made.record->status.empty() && !made.record->managed_elsewhere);
        return std::move(made.record);
    }

    void job_changed(const JobPtr* before, const JobPtr* after) {
        const JobRecord& job = before != nullptr ? **before : **after;
        const std::string key = key_of(job);
        const bool gone = after == nullptr || (*after)->uid != job.uid;
        note_deletion(key, job, gone, after);
        if (gone) {
            table.forget(job.uid);
            job_specs.forget(job.uid);
            warned_edits.erase(key);
            coalescer.forget(key);
            pending.forget(key);
            removed.erase(key);
            seen_new.erase(key);
            timers.set(key, std::nullopt);
        }
        const bool is_new = before == nullptr && (*after)->status.empty();
        if (options.observer != nullptr && is_new && started) seen_new.emplace(key, clock.now());
        if (after != nullptr) pending.shown(key, (*after)->resource_version);
        if (after != nullptr && (*after)->facts && !(*after)->managed_elsewhere)
            integrations.want((*after)->facts->integrations);
        // Pods of new jobs go before news of old ones.
        if (is_new)
            queue.add_first(key);
        else
            queue.add(key);
    }

    /// `known`: as it was before, or as it came.
    void note_deletion(const std::string& key, const JobRecord& known, bool gone,
                       const JobPtr* after) {
        if (!options.removes_dependents) return;
        const JobRecord& last = gone ? known : **after;
        if (last.managed_elsewhere || last.dependents_stay) return;
        if (gone || (last.deleting && last.dependents_go_first)) deleter.add(key, last);
    }

    /// What jobs left behind that went while nobody watched.
    Task<void> find_deleted_jobs() {
        std::map<std::pair<std::string, JobUid>, const jobs::JobKind*> lost;
        const auto look = [&](const DependentRecord& object) {
            if (object.is_orphan()) return;
            const std::string& kind = object.owner.kind->resource.kind;
            // Jobs that can't be read are not gone.
            if (auto known = kinds.find(kind);
                known == kinds.end() || !known->second.informer->has_synced())
                return;
            const JobPtr* owner = find_job(kind, object.namespace_ + "/" + object.owner.name);
            if (owner != nullptr && (*owner)->uid == object.owner.uid) return;
            lost.emplace(
                std::pair(queue_key(kind, object.namespace_, object.owner.name), object.owner.uid),
                object.owner.kind);
        };
        for (const auto& [key, pod] : pods.items()) look(*pod);
        for (const auto& [key, service] : services.items()) look(*service);
        for (const auto& [which, kind] : lost)
            co_await confirm_deletion(which.first, which.second, *kind);
    }

    /// The caches of jobs and pods are not of one moment: the API is asked.
    Task<void> confirm_deletion(std::string key, JobUid uid, const jobs::JobKind& kind) {
        const std::size_t first = key.find('/');
        const std::size_t second = key.find('/', first + 1);
        JobRecord job;
        job.kind = &kind;
        job.namespace_ = key.substr(first + 1, second - first - 1);
        job.name = key.substr(second + 1);
        job.uid = uid;
        const auto read = co_await client.get(kind.resource, job.namespace_, job.name);
        const bool gone =
            read ? metadata_of(**read).uid != uid.get() : read.error().code() == Code::kNotFound;
        if (!gone) co_return;
        deleter.add(key, job);
        queue.add(key);
    }

    static std::string key_of(const JobRecord& job) {
        return queue_key(job.kind->resource.kind, job.namespace_, job.name);
    }

    void add(const DependentRecord& object) {
        queue.add(
            queue_key(object.owner.kind->resource.kind, object.namespace_, object.owner.name));
    }

    void owned_object_changed(const OwnedObjectRecord& record) {
        table.owned_object_changed(record.owner_uid);
        queue.add(queue_key(record.owner_kind, record.namespace_, record.owner_name));
    }

    const JobPtr* find_job(const std::string& kind, const std::string& key) const {
        auto it = kinds.find(kind);
        return it == kinds.end() ? nullptr : it->second.informer->find(key);
    }

    void tell_news(const PodPtr* before, const PodRecord& pod) {
        if (before == nullptr && !pods.has_synced()) return;
        const std::string& kind = pod.owner.kind->resource.kind;
        std::vector<JobEvent> news = pod_news(before == nullptr ? nullptr : before->get(), pod);
        if (news.empty()) return;
        const JobPtr* job = find_job(kind, pod.namespace_ + "/" + pod.owner.name);
        if (job == nullptr || (*job)->uid != pod.owner.uid) return;
        for (JobEvent& event : news)
            recorders.at((*job)->kind)
                ->record(reference_to(**job), event.type, std::move(event.reason),
                         std::move(event.message));
    }

    Task<void> work() {
        for (;;) {
            const std::string key = co_await queue.next();
            const Instant began = clock.now();
            const bool complete = co_await pass(key);
            if (options.observer != nullptr)
                if (auto kind = kinds.find(std::string_view(key).substr(0, key.find('/')));
                    kind != kinds.end())
                    options.observer->on_reconcile(*kind->second.kind, clock.now() - began,
                                                   complete);
            if (complete)
                queue.forget(key);
            else
                queue.add_failed(key);
            queue.done(key);
        }
    }

    /// One look at one job. False: something failed and wants another try.
    Task<bool> pass(std::string key) {
        const bool left = co_await deleter.reconcile(key);
        const bool looked_after = co_await look_after(key);
        co_return left&& looked_after;
    }

    Task<bool> look_after(std::string key) {
        const std::size_t slash = key.find('/');
        auto kind = kinds.find(key.substr(0, slash));
        if (kind == kinds.end()) co_return true;
        const JobPtr* found = kind->second.informer->find(key.substr(slash + 1));
        if (found == nullptr) co_return true;
        const JobPtr job = *found;
        if (job->deleting || job->managed_elsewhere || removed.contains(key)) {
            timers.set(key, std::nullopt);
            co_return true;
        }

        table.of(job->uid).expire(clock.now());
        std::string version = job->resource_version;
        Plan next = make_plan(key, *job, version);
        timers.set(key, next.requeue_at);
        if (const auto due = coalescer.counts(
                key, next, table.of(job->uid).owned_objects_ensured_before(), clock.now()))
            queue.add_at(key, *due);
        const bool is_first = job->status.empty() && pending.find(key) == nullptr;
        const bool status_later = is_first && coalescer.first_status(key, next);
        if (next.empty()) co_return true;

        std::shared_ptr<const jobs::Job> whole;
        if (next.ensure_owned_objects || !next.create_pods.empty() ||
            !next.create_services.empty()) {
            whole = co_await whole_job(job);
            if (!whole) co_return false;
        }
        const bool more = next.more;
        const bool over = next.status && next.status->finished();
        auto enough = [this, key, job, told = next.status ? *next.status : known_status(key, *job),
                       look_at = clock.now() + kLongReconcile]() mutable {
            return should_end(key, *job, told, look_at);
        };
        PackedStatus status;
        std::vector<Reached> reached;
        if (next.status) {
            status = PackedStatus(*next.status);
            if (options.observer != nullptr)
                reached = milestones(known_status(key, *job), *next.status);
        }
        const Execution done = co_await run.execute(job, std::move(whole), version, std::move(next),
                                                    *recorders.at(job->kind), std::move(enough));
        if (done.status_written) {
            const JobPtr* shown =
                find_job(job->kind->resource.kind, job->namespace_ + "/" + job->name);
            const bool same = shown != nullptr && (*shown)->uid == job->uid;
            pending.add(key, job->resource_version, std::move(version), done.resource_version,
                        std::move(status), same ? (*shown)->resource_version : std::string());
            tell_observer(key, *job, reached);
        }
        if (done.job_removed) {
            removed.insert(key);
            if (options.observer != nullptr)
                options.observer->on_job_removed(*job->kind, job->namespace_);
        }
        if (const Instant until = table.of(job->uid).expire(clock.now()); until != Instant::max())
            queue.add_at(key, until);
        // What a finished job needs follows from the status that says so.
        const bool rest_now = done.cut || (more && (done.complete || done.made_any));
        if (rest_now || status_later || (over && done.status_written)) queue.add(key);
        co_return done.complete;
    }

    /// Whether a pass over `job` that will have told `told` ends before all is done: the job is
    /// another by now, it has reached something that nobody should learn late, or others wait.
    bool should_end(const std::string& key, const JobRecord& job, const jobs::JobStatus& told,
                    Instant& look_at) {
        const JobPtr* found = find_job(job.kind->resource.kind, job.namespace_ + "/" + job.name);
        if (found == nullptr || (*found)->uid != job.uid || (*found)->deleting ||
            (*found)->generation != job.generation ||
            (*found)->managed_elsewhere != job.managed_elsewhere)
            return true;
        if (clock.now() < look_at) return false;
        look_at = clock.now() + kLongReconcile;
        if (queue.ready() > 0) return true;
        if (!(*found)->facts) return false;
        Dependents& dependents = table.of(job.uid);
        dependents.configure((*found)->facts, told);
        const Plan next = plan(**found, told, dependents, table.orphans_of(key), clock.wall_now(),
                               integrations.state_for(**found));
        return next.status && !next.only_counts;
    }

    jobs::JobStatus known_status(const std::string& key, const JobRecord& job) const {
        const PendingStatusWrite* ours = pending.find(key);
        return (ours != nullptr ? ours->status : job.status).unpack();
    }

    void tell_observer(const std::string& key, const JobRecord& job,
                       const std::vector<Reached>& reached) {
        for (const Reached& one : reached) {
            JobNews news{.kind = *job.kind,
                         .namespace_ = job.namespace_,
                         .name = job.name,
                         .milestone = one.milestone,
                         .times = one.times,
                         .cause = one.cause};
            if (one.milestone == Milestone::kRunning)
                if (auto seen = seen_new.extract(key); !seen.empty())
                    news.since_seen = clock.now() - seen.mapped();
            options.observer->on_job(news);
        }
    }

    /// Also moves `version` to the revision that the plan's status builds upon.
    Plan make_plan(const std::string& key, const JobRecord& job, std::string& version) {
        const jobs::JobStatus status = known_status(key, job);
        if (const PendingStatusWrite* ours = pending.find(key)) version = ours->version;
        if (job.facts) {
            Dependents& dependents = table.of(job.uid);
            dependents.configure(job.facts, status);
            const Orphans& orphans = table.orphans_of(key);
            const IntegrationState seen = integrations.state_for(job);
            Plan made = plan(job, status, dependents, orphans, clock.wall_now(), seen);
            if (options.check_consistency) {
                const std::string found =
                    inconsistencies(job, status, dependents, orphans, clock.wall_now(),
                                    pods.items(), services.items(), seen);
                CHECK(found.empty(), found.c_str());
            }
            if (status.start_time.empty() && made.status && !made.status->start_time.empty())
                std::ranges::move(warning_events(job.warnings), std::back_inserter(made.events));
            return made;
        }
        Plan invalid = plan_invalid(job, status, *job.problem, clock.wall_now());
        if (!invalid.status && !invalid.events.empty()) {
            // An edit that is not in effect is told once and not at every event of its pods.
            auto [warned, first] = warned_edits.try_emplace(key, job.generation);
            if (!first && warned->second == job.generation) invalid.events.clear();
            warned->second = job.generation;
        }
        return invalid;
    }

    /// For making pods and services. Null when it can't be had, or is not as it was known.
    Task<std::shared_ptr<const jobs::Job>> whole_job(JobPtr job) {
        if (auto known = job_specs.find(job->uid, job->generation)) co_return known;
        auto read = co_await client.get(job->kind->resource, job->namespace_, job->name);
        if (!read.has_value()) {
            log::warning("a job could not be read", {{"kind", job->kind->resource.kind},
                                                     {"namespace", job->namespace_},
                                                     {"job", job->name},
                                                     {"error", read.error().message()}});
            co_return nullptr;
        }
        ProjectedJob made = project_job(*job->kind, **read, nullptr, options.platform);
        if (!made.job || made.record->uid != job->uid || made.record->generation != job->generation)
            co_return nullptr;  // the watch is about to show what it has become
        job_specs.put(job->uid, job->generation, made.job, false);
        co_return std::move(made.job);
    }

    OperatorOptions options;
    Clock& clock;
    TaskGroup tasks;
    kube::OutageDetectingTransport outage_detector;
    kube::Client client;
    bool started = false;
    kube::WorkQueue queue;
    RequeueTimers timers;
    Table table;
    JobSpecCache job_specs;
    std::vector<const jobs::JobKind*> served;
    OwnedObjectCaches owned_objects;
    IntegrationCaches integrations;
    Executor run;
    CascadingDeleter deleter;
    kube::Informer<PodPtr> pods;
    kube::Informer<ServicePtr> services;
    std::map<std::string, Kind, std::less<>> kinds;  ///< by resource.kind
    std::map<const jobs::JobKind*, std::unique_ptr<kube::EventRecorder>> recorders;
    PendingStatusWrites pending;
    StatusCoalescer coalescer;
    std::unordered_map<std::string, std::int64_t> warned_edits;
    /// Deleted at the end of their TTL; until the watch shows it.
    std::unordered_set<std::string> removed;
    /// Jobs that came while we watched and have not run yet, for the observer.
    std::unordered_map<std::string, Instant> seen_new;
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
    impl.owned_objects.start(impl.tasks);
    for (auto& [name, kind] : impl.kinds) kind.informer->start(impl.tasks);
    co_await impl.pods.wait_synced();
    co_await impl.services.wait_synced();
    co_await impl.owned_objects.wait_synced();
    for (auto& [name, kind] : impl.kinds) co_await kind.informer->wait_settled();
    for (const Unserved& resource : unserved())
        log::error("a kind of jobs is not served",
                   {{"resource", resource.resource}, {"why", resource.why}});
    impl.started = true;
    if (impl.options.removes_dependents)
        impl.tasks.spawn("what deleted jobs left behind", impl.find_deleted_jobs());
    // Only now, when all of a job's pods are known: a pass before would create them again.
    for (int i = 0; i < impl.options.workers; ++i) impl.tasks.spawn("operator worker", impl.work());
    co_return Result<void>();
}

Task<void> Operator::stop() { co_await impl_->tasks.stop(); }

std::vector<Unserved> Operator::unserved() const {
    std::vector<Unserved> all;
    for (const auto& [name, kind] : impl_->kinds)
        if (const Error* refusal = kind.informer->refusal())
            all.push_back(
                {kind.kind->resource.qualified(), why_unserved(kind.kind->resource, *refusal)});
    return all;
}

std::size_t Operator::queue_depth() const { return impl_->queue.ready(); }

}  // namespace muster::operators
