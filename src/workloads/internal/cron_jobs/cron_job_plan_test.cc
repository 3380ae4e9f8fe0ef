#include "workloads/internal/cron_jobs/cron_job_plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "kube/values/json_access.h"
#include "kube/values/read_json.h"
#include "kube/values/time.h"

namespace muster::workloads::cron_job_plan_test {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

WallTime at(std::string_view text) { return kube::parse_time(text).value(); }
const WallTime kNow = at("2026-01-02T03:04:05Z");

json::object cron_job(std::string_view spec = "", std::string_view status = "") {
    return kube::read_json(
               fmt::format(
                   R"({{"metadata":{{"name":"c","namespace":"n","uid":"u","creationTimestamp":
                      "2026-01-02T03:00:30Z"}},"spec":{{"schedule":"*/5 * * * *","jobTemplate":
                      {{"metadata":{{"labels":{{"a":"b"}}}},"spec":{{"backoffLimit":1}}}}{}{}}},
                      "status":{{{}}}}})",
                   spec.empty() ? "" : ",", spec, status))
        .value()
        .as_object();
}

JobRecord job(const std::string& name, const std::string& ended = "") {
    JobRecord made;
    made.name = {"n", name};
    made.uid = name;
    made.ended = ended;
    made.started = kNow - 1h;
    if (ended == "Complete") made.completed = kNow - 1min;
    return made;
}

CronJobPlan plan(const json::object& of, WallTime now, const std::vector<JobRecord>& jobs = {},
                 const std::set<std::string>& missing = {},
                 std::optional<kube::TimeZone> zone = kube::TimeZone()) {
    return plan_cron_job({of, jobs, missing, std::move(zone)}, now);
}

std::vector<std::string> reasons(const CronJobPlan& of) {
    std::vector<std::string> found;
    for (const CronJobEvent& event : of.events) found.push_back(event.reason);
    return found;
}
std::vector<std::string> names(const std::vector<JobRecord>& jobs) {
    std::vector<std::string> found;
    for (const JobRecord& one : jobs) found.push_back(one.name.name);
    return found;
}
std::string active(const std::string& name) {
    return fmt::format(R"("active":[{{"name":"{}","namespace":"n","uid":"{}"}}])", name, name);
}

TEST(CronJobPlan, MakesAJobAtEachTime) {
    struct Row {
        const char* spec;
        std::string status;
        const char* now;
        const char* made;  ///< "": nothing
        const char* again;
        std::vector<std::string> events;
    };
    const Row kRows[] = {
        {"", "", "2026-01-02T03:04:05Z", "", "2026-01-02T03:05:00Z", {}},
        {"", "", "2026-01-02T03:05:00Z", "2026-01-02T03:05:00Z", "2026-01-02T03:10:00Z", {}},
        {"",
         R"("lastScheduleTime":"2026-01-02T03:05:00Z")",
         "2026-01-02T03:05:01Z",
         "",
         "2026-01-02T03:10:00Z",
         {}},
        // After a time without a controller there is one Job and not one for each time.
        {"", "", "2026-01-02T05:02:00Z", "2026-01-02T05:00:00Z", "2026-01-02T05:05:00Z", {}},
        {"",
         "",
         "2026-01-03T05:02:00Z",
         "2026-01-03T05:00:00Z",
         "2026-01-03T05:05:00Z",
         {"TooManyMissedTimes"}},
        {R"("startingDeadlineSeconds":60)",
         "",
         "2026-01-02T05:02:00Z",
         "",
         "2026-01-02T05:05:00Z",
         {}},
        {R"("startingDeadlineSeconds":200)",
         "",
         "2026-01-02T05:02:00Z",
         "2026-01-02T05:00:00Z",
         "2026-01-02T05:05:00Z",
         {}},
        {R"("suspend":true)", "", "2026-01-02T03:05:00Z", "", "", {}},
        {R"("concurrencyPolicy":"Forbid")",
         active("x"),
         "2026-01-02T03:05:00Z",
         "",
         "2026-01-02T03:10:00Z",
         {"JobAlreadyActive"}},
        {R"("concurrencyPolicy":"Allow")",
         active("x"),
         "2026-01-02T03:05:00Z",
         "2026-01-02T03:05:00Z",
         "2026-01-02T03:10:00Z",
         {}},
        // Made, and the time not written: the name tells.
        {"", active("c-29455385"), "2026-01-02T03:05:00Z", "", "2026-01-02T03:10:00Z", {}},
    };
    for (const Row& row : kRows) {
        const CronJobPlan made = plan(cron_job(row.spec, row.status), at(row.now), {job("x")});
        EXPECT_EQ(made.make ? kube::format_time(*made.make) : "", row.made) << row.spec << row.now;
        EXPECT_EQ(made.again ? kube::format_time(*made.again) : "", row.again) << row.spec;
        std::vector<std::string> told = reasons(made);
        std::erase(told, "UnexpectedJob");
        EXPECT_EQ(told, row.events) << row.spec << row.now;
    }
}

TEST(CronJobPlan, ReplacesWhatStillRuns) {
    const CronJobPlan made = plan(cron_job(R"("concurrencyPolicy":"Replace")", active("x")),
                                  at("2026-01-02T03:05:00Z"), {job("x")});
    EXPECT_THAT(names(made.remove), ElementsAre("x"));
    EXPECT_TRUE(made.make.has_value());
    EXPECT_FALSE(made.status.contains("active"));
}

TEST(CronJobPlan, WhatCanNotBeScheduledIsTold) {
    EXPECT_THAT(reasons(plan(cron_job(), kNow, {}, {}, std::nullopt)),
                ElementsAre("UnknownTimeZone"));
    json::object wrong = cron_job();
    wrong["spec"].as_object()["schedule"] = "x";
    EXPECT_THAT(reasons(plan(wrong, kNow)), ElementsAre("UnparseableSchedule"));
    wrong["spec"].as_object()["schedule"] = "0 0 31 2 *";
    EXPECT_FALSE(plan(wrong, kNow).again.has_value());
}

TEST(CronJobPlan, SeesHowItsJobsEnd) {
    const CronJobPlan seen = plan(cron_job("", active("x")), kNow, {job("x", "Complete")});
    EXPECT_THAT(reasons(seen), ElementsAre("SawCompletedJob"));
    EXPECT_EQ(seen.events[0].message, "Saw completed job: x, condition: Complete");
    EXPECT_FALSE(seen.status.contains("active"));
    EXPECT_EQ(kube::string_at(seen.status, "lastSuccessfulTime"), "2026-01-02T03:03:05Z");
    EXPECT_THAT(reasons(plan(cron_job("", active("x")), kNow, {}, {"x"})),
                ElementsAre("MissingJob"));
    EXPECT_TRUE(plan(cron_job("", active("x")), kNow).status.contains("active"))
        << "the watch may not have shown it yet";
    EXPECT_THAT(reasons(plan(cron_job(), kNow, {job("manual")})), ElementsAre("UnexpectedJob"));
}

TEST(CronJobPlan, KeepsTheLastOfEachOutcome) {
    std::vector<JobRecord> jobs;
    for (int i = 0; i < 4; ++i) {
        for (const char* ended : {"Complete", "Failed"}) {
            jobs.push_back(job(fmt::format("{}{}", ended, i), ended));
            jobs.back().started = kNow - i * 1h;
        }
    }
    const CronJobPlan made =
        plan(cron_job(R"("successfulJobsHistoryLimit":3,"failedJobsHistoryLimit":0)"), kNow, jobs);
    EXPECT_THAT(names(made.remove),
                ElementsAre("Complete3", "Failed3", "Failed2", "Failed1", "Failed0"));
    EXPECT_THAT(plan(cron_job(), kNow, jobs).remove, IsEmpty());
}

TEST(CronJobPlan, AJobIsNamedByItsTimeAndKnowsIt) {
    const json::object made =
        scheduled_job(cron_job(), at("2026-07-02T03:05:00Z"),
                      kube::find_time_zone("Europe/Berlin").value_or(kube::TimeZone()));
    const json::object& metadata = made.at("metadata").as_object();
    EXPECT_EQ(kube::string_at(metadata, "name"), "c-29716025");
    EXPECT_EQ(made.at("spec"), json::value({{"backoffLimit", 1}}));
    EXPECT_EQ(metadata.at("labels"), json::value({{"a", "b"}}));
    if (kube::find_time_zone("Europe/Berlin"))
        EXPECT_EQ(metadata.at("annotations"),
                  json::value({{"batch.kubernetes.io/cronjob-scheduled-timestamp",
                                "2026-07-02T05:05:00+02:00"}}));
}

}  // namespace
}  // namespace muster::workloads::cron_job_plan_test
