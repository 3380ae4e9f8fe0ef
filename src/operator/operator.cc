#include "operator/operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "kube/client.h"
#include "kube/event_recorder.h"
#include "kube/informer.h"
#include "kube/work_queue.h"
#include "operator/internal/alarms.h"
#include "operator/internal/attachments.h"
#include "operator/internal/executor.h"
#include "operator/internal/from_scratch.h"
#include "operator/internal/manifest_findings.h"
#include "operator/internal/planner.h"
#include "operator/internal/recent_jobs.h"
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

/// Whole jobs that are kept for making their pods.
constexpr std::size_t kRecentJobs = 256;
/// How long a change of nothing but the counts of pods may wait for more of its kind, so that a job
/// of many replicas does not write its status for each of them.
constexpr Duration kCountsWait = std::chrono::milliseconds(100);

}  // namespace

struct Operator::Impl {
    /// Everything of one resource.
    struct Kind {
        const jobs::JobKind* kind = nullptr;  ///< the version that it is read in
        std::unique_ptr<kube::Informer<JobPtr>> informer;
    };
    /// A status that was written and that the watch has not shown yet.
    struct Written {
        std::vector<std::string> below;  ///< the revisions that it was written over
        std::string version;             ///< what it became
        PackedStatus status;

        bool covers(const std::string& shown) const {
            return std::ranges::find(below, shown) != below.end();
        }
    };

    Impl(asio::any_io_executor executor, kube::Transport& transport, Clock& the_clock, Rng& rng,
         OperatorOptions the_options)
        : options(std::move(the_options)),
          clock(the_clock),
          tasks(std::move(executor)),
          client(transport, "muster-operator"),
          queue(clock, tasks),
          alarms(clock, tasks, [this](const std::string& key) { queue.add(key); }),
          recent(kRecentJobs),
          attachments(client, clock, rng, jobs::all_kinds(), options.namespace_,
                      [this](const AttachmentRecord& record) { attachment_changed(record); }),
          run(client, clock, tasks, table, options.parallel_writes, options.announce_gangs,
              &attachments),
          pods(client, clock, rng, kube::types::kPods, dependents_options(), project_pod),
          services(client, clock, rng, kube::types::kServices, dependents_options(),
                   project_service) {
        for (const jobs::JobKind* kind : jobs::all_kinds()) add_kind(*kind, rng);
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
        recorders[&kind] = std::make_unique<kube::EventRecorder>(client, clock, rng, tasks,
                                                                 kind.controller_name());
        Kind& added = kinds[kind.resource.kind];
        if (added.kind != nullptr) return;  // another version: the API shows all in the first
        added.kind = &kind;
        added.informer = std::make_unique<kube::Informer<JobPtr>>(
            client, clock, rng, kind.resource, job_options(),
            [this, &added](const json::value& object) -> std::optional<JobPtr> {
                return read_job(added, object);
            });
        added.informer->on_change([this](const std::string&, const JobPtr* before,
                                         const JobPtr* after) { job_changed(before, after); });
    }

    JobPtr read_job(const Kind& kind, const json::value& object) {
        const JobPtr* known = kind.informer->find(cache_key_of(object));
        ProjectedJob made = project_job(jobs::kind_as_written(*kind.kind, object), object,
                                        known == nullptr ? nullptr : known->get(), options.site);
        if (made.job) recent.put(made.record->uid, made.record->generation, std::move(made.job));
        return std::move(made.record);
    }

    void job_changed(const JobPtr* before, const JobPtr* after) {
        const JobRecord& job = before != nullptr ? **before : **after;
        const std::string key = key_of(job);
        const bool gone = after == nullptr || (*after)->uid != job.uid;
        if (gone) {
            table.forget(job.uid);
            recent.forget(job.uid);
            warned_edits.erase(key);
            counts_due.erase(key);
            removed.erase(key);
            alarms.set(key, std::nullopt);
        }
        // What was written is what the cache shows now, or the API has moved on.
        if (auto it = written.find(key);
            it != written.end() && (gone || !it->second.covers((*after)->resource_version)))
            written.erase(it);
        queue.add(key);
    }

    static std::string key_of(const JobRecord& job) {
        return queue_key(job.kind->resource.kind, job.namespace_, job.name);
    }

    void add(const DependentRecord& object) {
        queue.add(
            queue_key(object.owner.kind->resource.kind, object.namespace_, object.owner.name));
    }

    void attachment_changed(const AttachmentRecord& record) {
        table.attachment_changed(record.owner_uid);
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
        if (found == nullptr) co_return true;
        const JobPtr job = *found;
        if (job->deleting || job->managed_elsewhere || removed.contains(key)) {
            alarms.set(key, std::nullopt);
            co_return true;
        }

        table.of(job->uid).expire(clock.now());
        std::string version = job->resource_version;
        Plan next = make_plan(key, *job, version);
        alarms.set(key, next.look_again);
        hold_back(key, *job, next);
        if (next.empty()) co_return true;

        std::shared_ptr<const jobs::Job> whole;
        if (next.attach || !next.create_pods.empty() || !next.create_services.empty()) {
            whole = co_await whole_job(job);
            if (!whole) co_return false;
        }
        const bool more = next.more;
        const bool over = next.status && next.status->finished();
        PackedStatus status;
        if (next.status) status = PackedStatus(*next.status);
        const Execution done = co_await run.execute(job, std::move(whole), version, std::move(next),
                                                    *recorders.at(job->kind));
        if (done.status_written)
            note_written(key, job, std::move(version), done, std::move(status));
        if (done.job_removed) removed.insert(key);
        if (const Instant until = table.of(job->uid).expire(clock.now()); until != Instant::max())
            queue.add_at(key, until);
        // What a finished job needs follows from the status that says so.
        if (more || (over && done.status_written)) queue.add(key);
        co_return done.complete;
    }

    /// Our own status counts from its answer on, and not only when the watch brings it: nothing can
    /// lie between the revisions.
    void note_written(const std::string& key, const JobPtr& job, std::string base,
                      const Execution& done, PackedStatus status) {
        Written next{.below = {job->resource_version},
                     .version = done.resource_version,
                     .status = std::move(status)};
        if (auto it = written.find(key); it != written.end() && it->second.version == base)
            next.below = std::move(it->second.below);
        if (!next.covers(base)) next.below.push_back(std::move(base));
        const JobPtr* shown = find_job(job->kind->resource.kind, job->namespace_ + "/" + job->name);
        if (shown != nullptr && (*shown)->uid == job->uid &&
            next.covers((*shown)->resource_version))
            written[key] = std::move(next);
        else
            written.erase(key);
    }

    /// Also moves `version` to the revision that the plan's status builds upon.
    Plan make_plan(const std::string& key, const JobRecord& job, std::string& version) {
        jobs::JobStatus status;
        if (auto it = written.find(key); it != written.end()) {
            status = it->second.status.unpack();
            version = it->second.version;
        } else {
            status = job.status.unpack();
        }
        if (job.facts) {
            Dependents& dependents = table.of(job.uid);
            dependents.configure(job.facts, status);
            const Orphans& orphans = table.orphans_of(key);
            Plan made = plan(job, status, dependents, orphans, clock.wall_now());
            if (options.check_sums) {
                const std::string found =
                    differences_from_scratch(job, status, dependents, orphans, clock.wall_now(),
                                             pods.items(), services.items());
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

    /// Counts, and attachments that tell of running pods, wait for more of the same; not what a pod
    /// that is about to be made will see.
    void hold_back(const std::string& key, const JobRecord& job, Plan& next) {
        const bool told = !next.events.empty() || (next.status && !next.only_counts);
        const bool counts = next.status && next.only_counts;
        const bool attachments_wait =
            next.attach && next.create_pods.empty() && table.of(job.uid).attached_before();
        if (told || (!counts && !attachments_wait)) {
            counts_due.erase(key);
            return;
        }
        const auto [due, first] = counts_due.try_emplace(key, clock.now() + kCountsWait);
        if (!first && due->second <= clock.now()) {
            counts_due.erase(due);
            return;
        }
        if (counts) next.status.reset();
        if (attachments_wait) next.attach = false;
        queue.add_at(key, due->second);
    }

    /// For making pods and services. Null when it can't be had, or is not as it was known.
    Task<std::shared_ptr<const jobs::Job>> whole_job(JobPtr job) {
        if (auto known = recent.find(job->uid, job->generation)) co_return known;
        auto read = co_await client.get(job->kind->resource, job->namespace_, job->name);
        if (!read.has_value()) {
            log::warning("a job could not be read", {{"kind", job->kind->resource.kind},
                                                     {"namespace", job->namespace_},
                                                     {"job", job->name},
                                                     {"error", read.error().message()}});
            co_return nullptr;
        }
        ProjectedJob made = project_job(*job->kind, **read, nullptr, options.site);
        if (!made.job || made.record->uid != job->uid || made.record->generation != job->generation)
            co_return nullptr;  // the watch is about to show what it has become
        recent.put(job->uid, job->generation, made.job);
        co_return std::move(made.job);
    }

    OperatorOptions options;
    Clock& clock;
    TaskGroup tasks;
    kube::Client client;
    kube::WorkQueue queue;
    Alarms alarms;
    Table table;
    RecentJobs recent;
    AttachmentCaches attachments;
    Executor run;
    kube::Informer<PodPtr> pods;
    kube::Informer<ServicePtr> services;
    std::map<std::string, Kind, std::less<>> kinds;  ///< by resource.kind
    std::map<const jobs::JobKind*, std::unique_ptr<kube::EventRecorder>> recorders;
    std::unordered_map<std::string, Written> written;
    std::unordered_map<std::string, std::int64_t> warned_edits;
    /// When counts that were held back are written.
    std::unordered_map<std::string, Instant> counts_due;
    /// Deleted at the end of their TTL; until the watch shows it.
    std::unordered_set<std::string> removed;
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
    impl.attachments.start(impl.tasks);
    for (auto& [name, kind] : impl.kinds) kind.informer->start(impl.tasks);
    co_await impl.pods.wait_synced();
    co_await impl.services.wait_synced();
    co_await impl.attachments.wait_synced();
    for (auto& [name, kind] : impl.kinds) co_await kind.informer->wait_synced();
    // Only now, when all of a job's pods are known: a pass before would create them again.
    for (int i = 0; i < impl.options.workers; ++i) impl.tasks.spawn("operator worker", impl.work());
    co_return Result<void>();
}

Task<void> Operator::stop() { co_await impl_->tasks.stop(); }

}  // namespace muster::operators
