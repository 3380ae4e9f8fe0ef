#include "operator/internal/scaling/plan_runner.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "jobs/scale_plan.h"
#include "kube/objects/codec.h"
#include "kube/values/time.h"

namespace muster::operators {
namespace {

/// How many plans a turn refuses for what it must read the manifest for.
constexpr int kMostRefusals = 10;

bool gives_resources(const ScaleOrder& order) {
    return std::ranges::any_of(
        order.types, [](const auto& change) { return !change.second.own_resources.empty(); });
}

jobs::JobStatus with_members(const jobs::JobKind& kind, const json::value& manifest,
                             std::map<std::string, jobs::ReplicaMembers> members) {
    const json::value* written = manifest.as_object().if_contains("status");
    jobs::JobStatus status =
        written == nullptr ? jobs::JobStatus() : jobs::read_status(kind, *written);
    status.members = std::move(members);
    return status;
}
/// Between two times that a job's own plan is made: what deletes it may do so at once, and the watch
/// may be late.
constexpr Duration kOwnPlanPause = std::chrono::seconds(30);

bool ends(std::string_view phase) {
    return phase == plan_phases::kSucceeded || phase == plan_phases::kFailed;
}

jobs::ScalePlanStatus status_from(const PlanNews& news, WallTime now) {
    const jobs::ScalePlanStatus& before = news.plan->status;
    const std::string time = kube::format_time(std::chrono::floor<std::chrono::seconds>(now));
    const bool taken_up =
        !before.create_time.empty() && before.observed_generation == news.generation;
    return {.create_time = taken_up ? before.create_time : time,
            .finish_time = ends(news.phase) ? time : std::string(),
            .phase = std::string(news.phase),
            .message = news.message,
            .observed_generation = news.generation,
            .rest = {}};
}

void warn(std::string_view what, const PlanRecord& plan, const Error& error) {
    log::warning(what,
                 {{"namespace", plan.namespace_}, {"plan", plan.name}, {"error", error.message()}});
}

/// Whether what plans ask of the job shows in its facts: a status of ours may be newer.
bool shows_what_is_asked(const JobRecord& job, const jobs::JobStatus& status) {
    return job.facts == nullptr || has_asked(job, asked_of(*job.facts, status));
}

}  // namespace

PlanRunner::PlanRunner(JobCaches& caches, kube::Client& client, kube::Controller& controller,
                       Clock& clock, Rng& rng, const jobs::JobKind& kind, std::string namespace_)
    : caches_(caches),
      client_(client),
      controller_(controller),
      clock_(clock),
      plans_(
          client, clock, rng, kind.resource.kind, std::move(namespace_),
          [this](const PlanPtr* before, const PlanPtr* after) { plan_changed(before, after); },
          [this] { plans_listed(); }) {}

bool PlanRunner::concerns(const std::string& key, const JobPtr& job) const {
    return plans_.has_plans(key) ||
           (job != nullptr && job->facts != nullptr && job->facts->has_own_plan);
}

PlanQueue PlanRunner::queue(const std::string& key, const JobPtr& job,
                            const jobs::JobStatus& status) {
    std::optional<PlannedJob> planned;
    if (job != nullptr) {
        Dependents& dependents = caches_.table().of(job->uid);
        if (job->facts != nullptr) dependents.configure(job->facts, status);
        planned.emplace(*job, status, dependents, !caches_.platform().cluster);
    }
    return queue_of(plans_.plans_of(key), planned, refusals_, clock_.wall_now());
}

// --- what is executed

Task<Result<std::optional<ScaleOrder>>> PlanRunner::next_order(std::string key, JobPtr job,
                                                               jobs::JobStatus status) {
    std::optional<ScaleOrder> none;
    if (!plans_.has_plans(key) || !shows_what_is_asked(*job, status)) co_return none;
    for (int refused = 0; refused < kMostRefusals; ++refused) {
        PlanQueue now = queue(key, job, status);
        if (!now.order) co_return none;
        now.order->plan_name = now.next->name;
        if (now.order->executed.replicas == asked_of(*job->facts, status) &&
            !gives_resources(*now.order))
            co_return std::move(now.order);
        auto members = members_after(*now.order, *job, status);
        CO_TRY(std::string problem,
               co_await problem_of(job, now.order->executed, std::move(members)));
        // What was true when it was read may not be any more.
        if (caches_.find(key) != job) co_return none;
        if (problem.empty()) co_return std::move(now.order);
        refusals_[now.next->uid] = {now.next->generation, std::move(problem)};
    }
    controller_.add(key);
    co_return none;
}

/// What is wrong with the manifest as the plan would have it, as if a user had written that; "" if
/// nothing is.
Task<Result<std::string>> PlanRunner::problem_of(
    JobPtr job, jobs::ExecutedPlan executed, std::map<std::string, jobs::ReplicaMembers> members) {
    kube::Client client = client_.of_flow(job->uid.get());
    CO_TRY(const kube::ObjectPtr manifest,
           co_await client.get(job->kind->resource, job->namespace_, job->name));
    const jobs::JobKind& kind = jobs::kind_as_written(*job->kind, *manifest);
    json::value scaled = jobs::with_asked(
        kind, *manifest, jobs::in_effect(executed, jobs::written_replicas(kind, *manifest)));
    // What single replicas request counts against the job's limits.
    scaled.as_object()["status"] =
        jobs::write_status(kind, with_members(kind, scaled, std::move(members)), {});
    const Result<jobs::Job> loaded = jobs::load(kind, scaled, caches_.platform());
    if (loaded) co_return std::string();
    co_return loaded.error().message();
}

// --- what is told

Task<bool> PlanRunner::report(std::string key, JobPtr job, jobs::JobStatus status, bool may_make) {
    if (job != nullptr && !shows_what_is_asked(*job, status)) co_return true;
    PlanQueue now = queue(key, job, status);
    if (now.look_again)
        controller_.requeue_at(key, clock_.now() + (*now.look_again - clock_.wall_now()));
    bool complete = true;
    for (PlanNews& news : now.news) {
        const auto ours = written_over_.find(news.plan->uid);
        if (ours != written_over_.end() && ours->second == news.plan->resource_version) continue;
        if (!co_await write(std::move(news))) complete = false;
    }
    for (PlanPtr& plan : now.surplus)
        if (!co_await remove(std::move(plan))) complete = false;
    if (may_make && lacks_own_plan(key, job, status) && !co_await make_own_plan(job))
        complete = false;
    co_return complete;
}

Task<bool> PlanRunner::write(PlanNews news) {
    const PlanRecord& plan = *news.plan;
    if (news.phase == plan_phases::kFailed) refusals_[plan.uid] = {news.generation, news.message};
    json::object body{{"apiVersion", jobs::kScalePlans.api_version()},
                      {"kind", jobs::kScalePlans.kind},
                      {"metadata",
                       {{"name", plan.name},
                        {"namespace", plan.namespace_},
                        {"uid", plan.uid},
                        {"resourceVersion", plan.resource_version}}},
                      {"status", kube::encode(status_from(news, clock_.wall_now()))}};
    auto written = co_await client_.update(jobs::kScalePlans, plan.namespace_, plan.name,
                                           std::move(body), "status");
    if (written.has_value()) {
        written_over_[plan.uid] = plan.resource_version;
        co_return true;
    }
    const Code code = written.error().code();
    if (code == Code::kNotFound) co_return true;
    // Something else was first, as the watch shows by then; or nothing was, and no watch tells of it.
    if (code == Code::kConflict) co_return false;
    warn("the status of a ScalePlan could not be written", plan, written.error());
    co_return false;
}

Task<bool> PlanRunner::remove(PlanPtr plan) {
    kube::DeleteOptions options;
    options.precondition_uid = plan->uid;
    options.precondition_resource_version = plan->resource_version;
    auto removed = co_await client_.remove(jobs::kScalePlans, plan->namespace_, plan->name,
                                           std::move(options));
    if (removed.has_value() || removed.error().code() == Code::kNotFound ||
        removed.error().code() == Code::kConflict)
        co_return true;
    warn("a ScalePlan that has ended could not be deleted", *plan, removed.error());
    co_return false;
}

// --- the plan of a job's master

bool PlanRunner::lacks_own_plan(const std::string& key, const JobPtr& job,
                                const jobs::JobStatus& status) {
    if (job == nullptr || job->facts == nullptr || !job->facts->has_own_plan) return false;
    if (job->deleting || job->managed_elsewhere || status.finished()) return false;
    if (!plans_.has_synced()) {
        await_list_.insert(key);
        return false;
    }
    if (plans_.has_object(job->namespace_, jobs::own_plan_name(job->name))) return false;
    const Instant now = clock_.now();
    const auto [made, first] = made_.try_emplace(key, now);
    if (!first && now < made->second + kOwnPlanPause) {
        controller_.requeue_at(key, made->second + kOwnPlanPause);
        return false;
    }
    made->second = now;
    return true;
}

Task<bool> PlanRunner::make_own_plan(JobPtr job) {
    jobs::Job owner;
    owner.kind = job->kind;
    owner.metadata.name = job->name;
    owner.metadata.namespace_ = job->namespace_;
    owner.metadata.uid = job->uid.get();
    kube::Client client = client_.of_flow(job->uid.get());
    auto made =
        co_await client.create(jobs::kScalePlans, job->namespace_, jobs::own_plan_manifest(owner));
    if (made.has_value() || made.error().code() == Code::kAlreadyExists) co_return true;
    log::warning("the ScalePlan of a job's master could not be made",
                 {{"namespace", job->namespace_},
                  {"plan", jobs::own_plan_name(job->name)},
                  {"error", made.error().message()}});
    made_.erase(queue_key(*job));
    co_return false;
}

void PlanRunner::plans_listed() {
    for (const std::string& key : std::exchange(await_list_, {})) controller_.add(key);
}

void PlanRunner::plan_changed(const PlanPtr* before, const PlanPtr* after) {
    if (before != nullptr && (after == nullptr || (*after)->uid != (*before)->uid)) {
        written_over_.erase((*before)->uid);
        refusals_.erase((*before)->uid);
    }
    if (after != nullptr) {
        const auto ours = written_over_.find((*after)->uid);
        if (ours != written_over_.end() && ours->second != (*after)->resource_version)
            written_over_.erase(ours);
        if ((*after)->ended()) refusals_.erase((*after)->uid);
    }
    if (before != nullptr) {
        const std::string key = plans_.key_of(**before);
        if (after == nullptr && caches_.find(key) == nullptr) made_.erase(key);
        controller_.add(key);
    }
    if (after != nullptr) controller_.add(plans_.key_of(**after));
}

}  // namespace muster::operators
