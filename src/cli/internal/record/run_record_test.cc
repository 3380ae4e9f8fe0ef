#include "cli/internal/record/run_record.h"

#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "cli/internal/record/run_choice.h"

namespace muster::cli::run_record_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

WallTime at(int seconds) { return WallTime(std::chrono::seconds(1'700'000'000 + seconds)); }

RunRecord whole_record() {
    RunRecord record;
    record.name = "digits-3";
    record.subjects = {{"PyTorchJob", "ml", "digits"}, {"Pod", "ml", "beside"}};
    record.command = {"run", "train.py", "a b"};
    record.directory = "/home/me";
    record.version = "1.2";
    record.kubeconfig = "/k";
    record.context = "prod";
    record.on_cluster = true;
    record.in_background = true;
    record.pid = 77;
    record.started = at(0);
    record.end = RunEnd{
        .at = at(9), .status = 7, .result = "failed", .why = {"a", "b"}, .restarts = 2, .bytes = 5};
    return record;
}

TEST(RunRecord, WhatIsWrittenIsRead) {
    const RunRecord record = whole_record();
    EXPECT_EQ(*run_record(to_json(record)), record);
    RunRecord alive = record;
    alive.end.reset();
    alive.on_cluster = false;
    alive.kubeconfig.clear();
    alive.context.clear();
    EXPECT_EQ(*run_record(to_json(alive)), alive);
}

TEST(RunRecord, AnythingElseIsRefusedOrReadAsFarAsItGoes) {
    for (const char* text : {"null", "[]", "{}", R"({"name": 3})", R"({"name": ""})"})
        EXPECT_FALSE(run_record(json::parse(text))) << text;
    const auto odd = run_record(json::parse(
        R"({"name": "a-1", "pid": "x", "started": 5, "command": [1, "b"], "end": {"why": 3}, "subjects": [null]})"));
    ASSERT_TRUE(odd);
    EXPECT_EQ(odd->pid, 0);
    EXPECT_TRUE(odd->end.has_value());
    EXPECT_THAT(odd->subjects, IsEmpty());
}

TEST(RunRecord, ANameIsAJobAndANumber) {
    EXPECT_EQ(job_of_run("digits-3"), "digits");
    EXPECT_EQ(job_of_run("a-b-12"), "a-b");
    EXPECT_EQ(number_of_run("a-b-12"), 12);
    for (const char* name : {"digits", "digits-", "digits-x", "digits-0", "-", ""}) {
        EXPECT_EQ(job_of_run(name), "") << name;
        EXPECT_EQ(number_of_run(name), 0) << name;
    }
}

FoundRun found(const std::string& job, int number, int started, std::uint64_t bytes = 1,
               bool alive = false) {
    FoundRun run;
    run.record.name = job + "-" + std::to_string(number);
    run.record.subjects = {{"PyTorchJob", "default", job}};
    run.record.started = at(started);
    run.alive = alive;
    run.bytes = alive ? 0 : bytes;
    if (!alive)
        run.record.end = RunEnd{.at = at(started + 1),
                                .status = 0,
                                .result = "succeeded",
                                .why = {},
                                .restarts = 0,
                                .bytes = bytes};
    return run;
}

TEST(RunChoice, ARunsOwnNameGoesBeforeAJobs) {
    const std::vector<FoundRun> runs = {found("a", 1, 1), found("a", 2, 5), found("a", 3, 3),
                                        found("a-1", 1, 9)};
    EXPECT_EQ(choose_run(runs, "a-3")->record.name, "a-3");
    EXPECT_EQ(choose_run(runs, "a")->record.name, "a-2");
    EXPECT_EQ(choose_run(runs, "a-1")->record.name, "a-1");  // a job has that name, too
    EXPECT_EQ(choose_run(runs, "a-1-1")->record.name, "a-1-1");
    EXPECT_EQ(choose_run(runs, "b"), nullptr);
    EXPECT_EQ(choose_run({}, ""), nullptr);
}

std::vector<std::string> names(const std::vector<FoundRun>& runs) {
    std::vector<std::string> names;
    for (const FoundRun& run : runs) names.push_back(run.record.name);
    return names;
}

TEST(RunChoice, TheOldestGoAndNoneThatLives) {
    const std::vector<FoundRun> runs = {found("a", 1, 1), found("a", 2, 2, 1, true),
                                        found("a", 3, 3), found("a", 4, 4)};
    EXPECT_THAT(names(runs_over_limits(runs, {.runs = 4, .bytes = 100})), IsEmpty());
    EXPECT_THAT(names(runs_over_limits(runs, {.runs = 3, .bytes = 100})), ElementsAre("a-1"));
    EXPECT_THAT(names(runs_over_limits(runs, {.runs = 1, .bytes = 100})),
                ElementsAre("a-1", "a-3"));
    EXPECT_THAT(names(runs_over_limits(runs, {.runs = 0, .bytes = 100})),
                ElementsAre("a-1", "a-3", "a-4"));
    EXPECT_THAT(
        names(runs_over_limits({found("a", 1, 1, 40), found("a", 2, 2, 50), found("a", 3, 3, 30)},
                               {.runs = 9, .bytes = 80})),
        ElementsAre("a-1"));
    // One that is too large for itself goes, too: the bound is one.
    EXPECT_THAT(names(runs_over_limits({found("a", 1, 1, 200)}, {.runs = 9, .bytes = 80})),
                ElementsAre("a-1"));
}

TEST(RunChoice, WhatAStateIsCalled) {
    FoundRun run = found("a", 1, 1, 1, true);
    EXPECT_EQ(run.state(), "running");
    run.alive = false;
    EXPECT_EQ(run.state(), "lost");
    EXPECT_EQ(found("a", 1, 1).state(), "succeeded");
}

}  // namespace
}  // namespace muster::cli::run_record_test
