#include "workloads/internal/cron_jobs/cron_job_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/time/bounded_seconds.h"
#include "kube/objects/resource_type.h"
#include "kube/schedule/cron_schedule.h"
#include "kube/values/json_access.h"
#include "kube/values/time.h"
#include "workloads/internal/cron_jobs/cron_job_type.h"
#include "workloads/internal/pods/controlled.h"

namespace muster::workloads {

namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kManyMissed = 100;
/// Clocks of several machines differ a little.
constexpr Duration kDelay = 100ms;

class CronJobPlanner {
  public:
    CronJobPlanner(const CronJobFacts& facts, WallTime now)
        : facts_(facts), now_(now), spec_(kube::child(facts.cron_job, "spec")) {
        plan_.status = kube::child(facts.cron_job, "status");
    }

    CronJobPlan plan() {
        see_jobs();
        forget_missing();
        for (const bool success : {true, false}) trim_history(success);
        if (!kube::is_deleting(facts_.cron_job)) schedule();
        return std::move(plan_);
    }

  private:
    void tell(bool warning, std::string reason, std::string message) {
        plan_.events.push_back({warning, std::move(reason), std::move(message)});
    }
    std::optional<WallTime> time(std::string_view key) const {
        return kube::parse_time(kube::string_at(plan_.status, key));
    }
    json::array* active() { return kube::array_at(plan_.status, "active"); }
    bool is_active(std::string_view key, std::string_view value) {
        for (const json::object* one : kube::objects_at(plan_.status, "active"))
            if (kube::string_at(*one, key) == value) return true;
        return false;
    }
    void drop_active(std::string_view uid);
    void see_jobs();
    void forget_missing();
    void trim_history(bool success);
    void schedule();
    void decide(const kube::CronSchedule& schedule, WallTime due, WallTime earliest);
    bool too_late(WallTime due);
    void replace_active();

    const CronJobFacts& facts_;
    const WallTime now_;
    const json::object& spec_;
    CronJobPlan plan_;
};

void CronJobPlanner::drop_active(std::string_view uid) {
    json::array* all = active();
    if (all == nullptr) return;
    const auto kept = std::remove_if(all->begin(), all->end(), [&](const json::value& one) {
        return one.is_object() && kube::string_at(one.get_object(), "uid") == uid;
    });
    all->erase(kept, all->end());
    if (all->empty()) plan_.status.erase("active");
}

void CronJobPlanner::see_jobs() {
    for (const JobRecord& job : facts_.jobs) {
        const bool known = is_active("uid", job.uid);
        if (job.ended.empty()) {
            if (!known)
                tell(true, "UnexpectedJob",
                     fmt::format("Saw a job that the controller did not create or forgot: {}",
                                 job.name.name));
            continue;
        }
        if (known) {
            drop_active(job.uid);
            tell(false, "SawCompletedJob",
                 fmt::format("Saw completed job: {}, condition: {}", job.name.name, job.ended));
        }
        const std::optional<WallTime> last = time("lastSuccessfulTime");
        if (job.ended == "Complete" && job.completed && (!last || *last < *job.completed))
            plan_.status["lastSuccessfulTime"] = kube::format_time(*job.completed);
    }
}

void CronJobPlanner::forget_missing() {
    std::vector<std::pair<std::string, std::string>> gone;
    for (const json::object* one : kube::objects_at(plan_.status, "active"))
        if (const std::string uid(kube::string_at(*one, "uid")); facts_.missing.contains(uid))
            gone.emplace_back(uid, kube::string_at(*one, "name"));
    for (const auto& [uid, name] : gone) {
        drop_active(uid);
        tell(false, "MissingJob", fmt::format("Active job went missing: {}", name));
    }
}

/// The oldest Jobs of one outcome go.
void CronJobPlanner::trim_history(bool success) {
    const auto limit =
        kube::int_at(spec_, success ? "successfulJobsHistoryLimit" : "failedJobsHistoryLimit");
    if (!limit) return;
    std::vector<const JobRecord*> ended;
    for (const JobRecord& job : facts_.jobs)
        if (job.ended == (success ? "Complete" : "Failed")) ended.push_back(&job);
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(*limit, 0));
    if (ended.size() <= most) return;
    std::ranges::sort(ended, [](const JobRecord* a, const JobRecord* b) {
        const WallTime one = a->started.value_or(WallTime::max());
        const WallTime other = b->started.value_or(WallTime::max());
        return one != other ? one < other : a->name < b->name;
    });
    for (std::size_t i = 0; i < ended.size() - most; ++i)
        if (!ended[i]->deleting) plan_.remove.push_back(*ended[i]);
}

void CronJobPlanner::schedule() {
    const std::string_view zone = kube::string_at(spec_, "timeZone");
    if (!facts_.zone)
        return tell(true, "UnknownTimeZone",
                    fmt::format("invalid timeZone: \"{}\": unknown time zone {}", zone, zone));
    if (kube::bool_at(spec_, "suspend")) return;
    const std::string_view text = kube::string_at(spec_, "schedule");
    const auto schedule = kube::CronSchedule::parse(text);
    if (!schedule)
        return tell(
            true, "UnparseableSchedule",
            fmt::format("unparseable schedule: \"{}\" : {}", text, schedule.error().message()));
    WallTime earliest =
        kube::parse_time(kube::string_at(kube::metadata_of(facts_.cron_job), "creationTimestamp"))
            .value_or(now_);
    if (const auto last = time("lastScheduleTime")) earliest = *last;
    if (const auto deadline = kube::int_at(spec_, "startingDeadlineSeconds"))
        earliest = std::max<WallTime>(earliest, now_ - bounded_seconds(*deadline));
    const std::optional<WallTime> due = schedule->last(earliest, now_, *facts_.zone);
    const std::optional<WallTime> next = schedule->next(due.value_or(now_), *facts_.zone);
    if (next) plan_.again = std::max(*next, now_) + kDelay;
    if (due) decide(*schedule, *due, earliest);
}

bool CronJobPlanner::too_late(WallTime due) {
    const auto deadline = kube::int_at(spec_, "startingDeadlineSeconds");
    if (!deadline || due + bounded_seconds(*deadline) >= now_) return false;
    tell(true, "MissSchedule",
         fmt::format("Missed scheduled time to start a job: {}", kube::format_time(due)));
    return true;
}

void CronJobPlanner::decide(const kube::CronSchedule& schedule, WallTime due, WallTime earliest) {
    const std::optional<WallTime> first = schedule.next(earliest, *facts_.zone);
    const std::optional<WallTime> second =
        first ? schedule.next(*first, *facts_.zone) : std::nullopt;
    if (second && (now_ - *first) / (*second - *first) >= kManyMissed)
        tell(true, "TooManyMissedTimes",
             "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check "
             "clock skew");
    if (too_late(due)) return;
    const std::string name = scheduled_job_name(kube::name_of(facts_.cron_job), due);
    if (is_active("name", name) || time("lastScheduleTime") == due) return;
    const std::string_view policy = kube::string_at(spec_, "concurrencyPolicy");
    if (policy == "Forbid" && active() != nullptr && !active()->empty())
        return tell(false, "JobAlreadyActive",
                    "Not starting job because prior execution is running and concurrency policy is "
                    "Forbid");
    if (policy == "Replace") replace_active();
    plan_.make = due;
}

void CronJobPlanner::replace_active() {
    for (const JobRecord& job : facts_.jobs) {
        if (!is_active("uid", job.uid)) continue;
        drop_active(job.uid);
        plan_.remove.push_back(job);
    }
}

/// As the annotation of a Job has it: in the zone of the schedule.
std::string zoned_time(WallTime time, const kube::TimeZone& zone) {
    const auto at = std::chrono::floor<std::chrono::seconds>(time);
    const std::chrono::seconds offset = zone.offset(at);
    std::string text = kube::format_time(at + offset);
    if (offset == 0s) return text;
    text.pop_back();
    const std::chrono::hh_mm_ss apart(std::chrono::abs(offset));
    return fmt::format("{}{}{:02}:{:02}", text, offset < 0s ? '-' : '+', apart.hours().count(),
                       apart.minutes().count());
}

}  // namespace

CronJobPlan plan_cron_job(const CronJobFacts& facts, WallTime now) {
    return CronJobPlanner(facts, now).plan();
}

std::string scheduled_job_name(std::string_view cron_job, WallTime scheduled) {
    return fmt::format(
        "{}-{}", cron_job,
        std::chrono::floor<std::chrono::minutes>(scheduled).time_since_epoch().count());
}

json::object scheduled_job(const json::object& cron_job, WallTime scheduled,
                           const kube::TimeZone& zone) {
    json::object job = from_template(kube::child(kube::child(cron_job, "spec"), "jobTemplate"),
                                     owner_of(kCronJobs, cron_job));
    json::object& metadata = job.at("metadata").get_object();
    metadata.erase("finalizers");
    metadata["name"] = scheduled_job_name(kube::name_of(cron_job), scheduled);
    if (kube::object_at(metadata, "annotations") == nullptr)
        metadata["annotations"].emplace_object();
    metadata.at("annotations").get_object()["batch.kubernetes.io/cronjob-scheduled-timestamp"] =
        zoned_time(scheduled, zone);
    job["apiVersion"] = kube::types::kBatchJobs.api_version();
    job["kind"] = kube::types::kBatchJobs.kind;
    return job;
}

void note_made(json::object& status, const json::object& job, WallTime scheduled) {
    if (kube::array_at(status, "active") == nullptr) status["active"].emplace_array();
    status.at("active").get_array().push_back(
        {{"apiVersion", kube::types::kBatchJobs.api_version()},
         {"kind", kube::types::kBatchJobs.kind},
         {"name", kube::name_of(job)},
         {"namespace", kube::namespace_of(job)},
         {"resourceVersion", kube::string_at(kube::metadata_of(job), "resourceVersion")},
         {"uid", kube::uid_of(job)}});
    status["lastScheduleTime"] = kube::format_time(scheduled);
}

}  // namespace muster::workloads
