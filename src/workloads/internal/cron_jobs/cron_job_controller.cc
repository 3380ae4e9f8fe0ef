#include "workloads/internal/cron_jobs/cron_job_controller.h"

#include <fmt/format.h>

#include <utility>

#include "kube/values/text_size.h"
#include "workloads/internal/cron_jobs/cron_job_type.h"
#include "workloads/internal/pods/controlled.h"
#include "workloads/internal/pods/status_write.h"

namespace muster::workloads {

namespace {

constexpr int kCronJobsAtATime = 2;
/// More than there are in the database.
constexpr std::size_t kMostZones = 1000;

}  // namespace

CronJobController::CronJobController(kube::Client& client, Clock& clock, Rng& rng, TaskGroup& tasks,
                                     JobTable& jobs, SideThread* side_thread)
    : client_(client),
      clock_(clock),
      side_thread_(side_thread),
      jobs_(jobs),
      events_(client, clock, rng, tasks, "cronjob-controller"),
      cron_jobs_(client, clock, rng, kCronJobs, {},
                 [](const json::value&) -> std::optional<Known> { return Known{}; }),
      controller_(clock, tasks, [this](std::string key) { return reconcile(std::move(key)); }) {
    cron_jobs_.on_change(
        [this](const std::string& key, const Known*, const Known*) { controller_.add(key); });
    jobs.on_change([this](const std::string&, const JobRecord* before, const JobRecord* after) {
        for (const JobRecord* job : {before, after})
            if (job != nullptr && !job->cron_job.empty())
                controller_.add(kube::NamespacedName{job->name.namespace_, job->cron_job}.text());
    });
}

void CronJobController::start() { controller_.start(kCronJobsAtATime); }

std::optional<kube::TimeZone> CronJobController::zone_of(const json::object& cron_job) {
    const std::string_view name = kube::string_at(kube::child(cron_job, "spec"), "timeZone");
    if (name.empty()) return own_zone_;
    if (const auto known = zones_.find(name); known != zones_.end()) return known->second;
    std::optional<kube::TimeZone> found = kube::find_time_zone(name);
    if (found && zones_.size() < kMostZones) zones_.emplace(name, *found);
    return found;
}

Task<bool> CronJobController::reconcile(std::string key) {
    const kube::NamespacedName name = name_of_key(key);
    auto got = co_await client_.get(kCronJobs, name.namespace_, name.name);
    if (!got) {
        controller_.set_deadline(key, std::nullopt);
        co_return got.error().code() == Code::kNotFound;
    }
    const json::object& cron_job = (*got)->get_object();
    std::vector<JobRecord> jobs;
    std::set<std::string> known;
    for (JobRecord& job : jobs_.of_cron_job(name)) {
        if (job.cron_job_uid != kube::uid_of(cron_job)) continue;
        known.insert(job.uid);
        jobs.push_back(std::move(job));
    }
    const auto missing = co_await find_missing(*got, std::move(known));
    if (!missing) co_return false;
    std::optional<kube::TimeZone> zone = zone_of(cron_job);
    CronJobPlan plan = plan_cron_job({cron_job, jobs, *missing, zone}, clock_.wall_now());
    controller_.set_deadline(key, plan.again);
    co_return co_await carry_out(*std::move(got), std::move(plan),
                                 std::move(zone).value_or(kube::TimeZone()));
}

/// Uids of Jobs that the status calls active and that are gone: the API is asked, since the watch
/// may not have shown a new one yet.
Task<std::optional<std::set<std::string>>> CronJobController::find_missing(
    kube::ObjectPtr object, std::set<std::string> known) {
    std::set<std::string> missing;
    const json::object& cron_job = object->get_object();
    const std::string namespace_(kube::namespace_of(cron_job));
    for (const json::object* one : kube::objects_at(kube::child(cron_job, "status"), "active")) {
        std::string uid(kube::string_at(*one, "uid"));
        if (known.contains(uid)) continue;
        const std::string_view name = kube::string_at(*one, "name");
        if (name.empty()) continue;
        const auto got =
            co_await client_.get(kube::types::kBatchJobs, namespace_, std::string(name));
        if (!got && got.error().code() != Code::kNotFound) co_return std::nullopt;
        if (!got || kube::uid_of((*got)->get_object()) != uid) missing.insert(std::move(uid));
    }
    co_return missing;
}

Task<bool> CronJobController::carry_out(kube::ObjectPtr cron_job, CronJobPlan plan,
                                        kube::TimeZone zone) {
    const Owner owner = owner_of(kCronJobs, cron_job->get_object());
    for (CronJobEvent& event : plan.events)
        events_.record(owner.reference(),
                       event.warning ? kube::EventType::kWarning : kube::EventType::kNormal,
                       std::move(event.reason), std::move(event.message));
    const bool removed = co_await remove_jobs(owner, std::move(plan.remove));
    bool made = true;
    if (plan.make && removed) made = co_await make_job(cron_job, plan, std::move(zone));
    const bool written =
        co_await write_status(client_, kCronJobs, cron_job, std::move(plan.status));
    co_return removed&& made&& written;
}

Task<bool> CronJobController::remove_jobs(Owner owner, std::vector<JobRecord> jobs) {
    bool complete = true;
    for (JobRecord& job : jobs) {
        kube::DeleteOptions options;
        options.propagation = kube::Propagation::kBackground;
        options.precondition_uid = job.uid;
        const auto removed = co_await client_.remove(kube::types::kBatchJobs, job.name.namespace_,
                                                     job.name.name, std::move(options));
        if (removed) {
            events_.record(owner.reference(), kube::EventType::kNormal, "SuccessfulDelete",
                           fmt::format("Deleted job {}", job.name.name));
        } else if (removed.error().code() != Code::kNotFound) {
            complete = false;
            events_.record(owner.reference(), kube::EventType::kWarning, "FailedDelete",
                           fmt::format("Deleted job: {}", removed.error().message()));
        }
    }
    co_return complete;
}

Task<bool> CronJobController::make_job(kube::ObjectPtr cron_job, CronJobPlan& plan,
                                       kube::TimeZone zone) {
    const Owner owner = owner_of(kCronJobs, cron_job->get_object());
    json::object job = co_await compute_beside(
        side_thread_, "make a job", kube::text_size(*cron_job, kWorthSideThread),
        [cron_job, zone, due = *plan.make] {
            return scheduled_job(cron_job->get_object(), due, zone);
        });
    const std::string name(kube::name_of(job));
    auto made =
        co_await client_.create(kube::types::kBatchJobs, owner.name.namespace_, std::move(job));
    if (made) {
        note_made(plan.status, made->object->get_object(), *plan.make);
        events_.record(owner.reference(), kube::EventType::kNormal, "SuccessfulCreate",
                       fmt::format("Created job {}", name));
        co_return true;
    }
    if (made.error().code() != Code::kAlreadyExists) {
        events_.record(owner.reference(), kube::EventType::kWarning, "FailedCreate",
                       fmt::format("Error creating job: {}", made.error().message()));
        co_return false;
    }
    // We made it and did not come to write that down; or it is another's.
    const auto got = co_await client_.get(kube::types::kBatchJobs, owner.name.namespace_, name);
    if (!got) co_return false;
    const json::object& there = (*got)->get_object();
    if (is_controlled_by(there, owner.uid)) note_made(plan.status, there, *plan.make);
    co_return true;
}

}  // namespace muster::workloads
