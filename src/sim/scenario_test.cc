#include "sim/scenario.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "sim/builtin_scenarios.h"
#include "sim/internal/field_reader.h"

namespace muster::sim::scenario_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::SizeIs;

std::vector<std::string> problems(std::string_view text) {
    const auto scenario = read_scenario(json::parse(text));
    std::vector<std::string> lines;
    if (!scenario)
        for (const Cause& cause : scenario.error().causes())
            lines.push_back(fmt::format("{}: {}", cause.field, cause.message));
    return lines;
}

TEST(Span, AreNumbersWithUnits) {
    const std::vector<std::pair<std::string_view, std::optional<Duration>>> table = {
        {"90s", 90s},
        {"1h30m", 90min},
        {"500ms", 500ms},
        {"0", 0s},
        {"1.5s", 1500ms},
        {"-5m", -5min},
        {"1m1ms", 1min + 1ms},
        {"", std::nullopt},
        {"-", std::nullopt},
        {"5", std::nullopt},
        {"5x", std::nullopt},
        {"s", std::nullopt},
        {"1s ", std::nullopt},
        {"--1s", std::nullopt},
        {"1e3s", std::nullopt},
        {"999999999h", std::nullopt},
        {"250000h250000h250000h", std::nullopt}};
    for (const auto& [text, span] : table) EXPECT_EQ(parse_span(text), span) << text;
}

TEST(Scenario, EveryProblemIsTold) {
    const std::vector<std::pair<std::string_view, std::string_view>> table = {
        {R"([])", ": must be a map"},
        {R"({"nodes":0})", "nodes: must be a whole number from 1 to 100000"},
        {R"({"nodes":"4"})", "nodes: must be a whole number from 1 to 100000"},
        {R"({"operators":4})", "operators: must be a whole number from 1 to 3"},
        {R"({"duration":5})", "duration: must be a time span such as 90s, 1h30m or 500ms"},
        {R"({"duration":"-5s"})", "duration: must be a time span such as 90s, 1h30m or 500ms"},
        {R"({"duration":"1m","faultsUntil":"2m"})", "faultsUntil: must not be after the duration"},
        {R"({"reportEveryPhase":1})", "reportEveryPhase: must be true or false"},
        {R"({"description":1})", "description: must be text"},
        {R"({"jobs":{}})", "jobs: must be a list"},
        {R"({"jobs":[7]})", "jobs[0]: must be a map"},
        {R"({"jobs":[{"manifest":7}]})", "jobs[0].manifest: must be an object"},
        {R"({"jobs":[{"masters":"0..2"}]})", "jobs[0].masters: a job has at most one master"},
        {R"({"jobs":[{"workers":"4..1"}]})",
         "jobs[0].workers: must be a number or a range of two, such as 1..4"},
        {R"({"jobs":[{"nodeNum":2}]})", "jobs[0].nodeNum: must be a probability, from 0 to 1"},
        {R"({"apiAway":{"every":"0..5m"}})", "apiAway.every: must be longer than nothing"},
        {R"({"trainingFaults":{"masterDeath":{"every":"0..5m"}}})",
         "trainingFaults.masterDeath.every: must be longer than nothing"},
        {R"({"user":{"scalePlan":{"every":"0..5m"}}})",
         "user.scalePlan.every: must be longer than nothing"},
        {R"({"jobs":[{"restartPolicies":["Sometimes"]}]})",
         "jobs[0].restartPolicies: must be of Always, OnFailure, Never, ExitCode"},
        {R"({"jobs":[{"cleanPodPolicies":[]}]})", "jobs[0].cleanPodPolicies: must not be empty"},
        {R"({"jobs":[{"ttl":"-1s..5s"}]})",
         "jobs[0].ttl: must be a time span or a range of two, such as 5s..2m"},
        {R"({"pods":{"exits":[1]}})", "pods.exits: must be a map of exit code to weight"},
        {R"({"pods":{"exits":{"256":1}}})",
         "pods.exits.256: must be an exit code from 0 to 255 and its weight"},
        {R"({"pods":{"exits":{"1":-1}}})",
         "pods.exits.1: must be an exit code from 0 to 255 and its weight"},
        {R"({"api":{"conflict":1.1}})", "api.conflict: must be a probability, from 0 to 1"},
        {R"({"api":{"conflcit":1}})", "api.conflcit: no such field; did you mean conflict?"},
        {R"({"nodeFaults":{"death":{"every":"0..5m"}}})",
         "nodeFaults.death.every: must be longer than nothing"},
        {R"({"nodeFaults":{"death":{"evry":"5m"}}})",
         "nodeFaults.death.evry: no such field; did you mean every?"},
        {R"({"except":"nothing"})",
         "except: must be of one-pod, new-ids, order, final, exclusive, completion-time, "
         "restarts-fall, "
         "restarts-most, restarts-least, groups, back-off, backoff-limit, deadline, ttl, ends, "
         "orphans, "
         "quiet, quiet-job, plan-once, one-leader, worlds, ranks, stores, healthy-stop, charges, "
         "verdict, agent-end, "
         "recovery, accepted, success, real-restarts, one-world, workers-end"},
    };
    for (const auto& [text, problem] : table)
        EXPECT_THAT(problems(text), ElementsAre(std::string(problem))) << text;
    EXPECT_THAT(problems(R"({"nodes":0,"operators":0,"x":1})"), SizeIs(3));
}

TEST(Scenario, WhatIsReadOfTrainingIsKept) {
    const auto scenario = read_scenario(json::parse(R"({
        "jobs": [{"elastic": 0.5, "minWorkers": "1..2", "maxRestarts": 7, "nodeNum": 0.3}],
        "apiAway": {"every": "5m", "lasts": "6s"},
        "training": {"work": "2m..5m", "workerStart": "5ms", "workerStop": "1s"},
        "trainingFaults": {"workerDeath": {"every": "1m"}, "masterDeath": {"every": "7m"}, "programError": 0.2,
                           "lateCut": {"every": "2m", "by": "3s"}, "partition": {"every": "3m", "lasts": "4s"}}})"));
    ASSERT_TRUE(scenario) << scenario.error().message();
    EXPECT_EQ(scenario->jobs[0].elastic, 0.5);
    EXPECT_EQ(scenario->jobs[0].min_workers, std::pair(1, 2));
    EXPECT_EQ(scenario->jobs[0].max_restarts, std::pair(7, 7));
    EXPECT_EQ(scenario->jobs[0].node_num, 0.3);
    EXPECT_EQ(scenario->api_away.lasts.most, 6s);
    EXPECT_EQ(scenario->training_faults.master_death.every.least, 7min);
    EXPECT_TRUE(scenario->training.happens());
    EXPECT_EQ(scenario->training.work.most, 5min);
    EXPECT_EQ(scenario->training_faults.program_error, 0.2);
    EXPECT_EQ(scenario->training_faults.late_cut_by.most, 3s);
    EXPECT_EQ(scenario->training_faults.partition.lasts.most, 4s);
    EXPECT_FALSE(scenario->training_faults.link_cut.happens());
}

TEST(Scenario, AgentsMayBeAlone) {
    const auto scenario =
        read_scenario(json::parse(R"({"agentsAlone":{"nodes":"2..3","faults":9,"time":"30s"}})"));
    ASSERT_TRUE(scenario) << scenario.error().message();
    ASSERT_TRUE(scenario->agents_alone);
    EXPECT_EQ(scenario->agents_alone->nodes, std::pair(2, 3));
    EXPECT_EQ(scenario->agents_alone->faults, 9);
    EXPECT_EQ(scenario->agents_alone->time, 30s);
}

TEST(Scenario, WhatIsReadIsKept) {
    const auto scenario = read_scenario(json::parse(R"({
        "nodes": 7, "operators": 2, "duration": "2h", "faultsUntil": "30m",
        "jobs": [{"count": 3, "workers": 2, "withTtl": 0.5, "ttl": "1m..2m"},
                 {"manifest": {"kind": "PyTorchJob"}}],
        "pods": {"runTime": "5s..1m", "exits": {"0": 0.5, "137": 2}},
        "clockJumps": {"every": "1m", "by": "-5m..5m"},
        "operatorFaults": {"crash": {"every": "1m..2m", "lasts": "5s"}, "crashAfterWrite": 0.25},
        "except": ["ttl"]})"));
    ASSERT_TRUE(scenario) << scenario.error().message();
    EXPECT_EQ(scenario->nodes, 7);
    EXPECT_EQ(scenario->operators, 2);
    EXPECT_EQ(scenario->duration, 2h);
    EXPECT_EQ(scenario->faults_until, 30min);
    ASSERT_EQ(scenario->jobs.size(), 1u);
    EXPECT_EQ(scenario->jobs[0].count, 3);
    EXPECT_EQ(scenario->jobs[0].workers, std::pair(2, 2));
    EXPECT_EQ(scenario->jobs[0].ttl.most, 2min);
    EXPECT_EQ(scenario->manifests.size(), 1u);
    EXPECT_EQ(scenario->pods.run_time.least, 5s);
    ASSERT_EQ(scenario->pods.exits.size(), 2u);
    EXPECT_EQ(scenario->pods.exits[1].exit_code, 137);
    EXPECT_EQ(scenario->pods.exits[1].weight, 2);
    EXPECT_TRUE(scenario->clock_jump.happens());
    EXPECT_EQ(scenario->clock_jump_by.least, -5min);
    EXPECT_EQ(scenario->operator_faults.crash.lasts.least, 5s);
    EXPECT_EQ(scenario->operator_faults.crash_after_write, 0.25);
    EXPECT_FALSE(scenario->node_faults.death.happens());
    EXPECT_THAT(scenario->except, ElementsAre("ttl"));
}

TEST(Scenario, FaultsOfAnotherAreAddedWithoutItsJobsAndTimes) {
    Scenario scenario;
    scenario.nodes = 2;
    const auto added = add_faults(scenario, json::parse(R"({"nodes": 9, "jobs": [{"count": 3}],
        "duration": "1h", "api": {"conflict": 0.5}})"));
    ASSERT_TRUE(added) << added.error().message();
    EXPECT_EQ(scenario.nodes, 2);
    EXPECT_TRUE(scenario.jobs.empty());
    EXPECT_EQ(scenario.duration, 3h);
    EXPECT_EQ(scenario.operator_api.conflict, 0.5);

    EXPECT_FALSE(add_faults(scenario, json::parse(R"({"api": {"conflict": 2, "tooMany": 1}})")));
    EXPECT_EQ(scenario.operator_api.too_many, 0) << "a wrong file changes nothing";
}

TEST(BuiltinScenarios, AreThereByName) {
    EXPECT_GE(builtin_scenarios().size(), 12u);
    for (std::size_t i = 1; i < builtin_scenarios().size(); ++i)
        EXPECT_LT(builtin_scenarios()[i - 1].name, builtin_scenarios()[i].name);
    for (const BuiltinScenario& scenario : builtin_scenarios())
        EXPECT_TRUE(scenario.text.starts_with("description: ")) << scenario.name;
}

}  // namespace
}  // namespace muster::sim::scenario_test
