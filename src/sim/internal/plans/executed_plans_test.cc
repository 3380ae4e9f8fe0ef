#include "sim/internal/plans/executed_plans.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <functional>
#include <iterator>
#include <memory>

namespace muster::sim::executed_plans_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// What the API shows of the job "j" and its plans, each with its name as its uid.
class Story {
  public:
    void plan(const char* name, int generation, const char* phase = "", int told = 0) {
        change(name, json::parse(fmt::format(
                         R"({{"metadata":{{"uid":"{}","generation":{}}},
                             "status":{{"phase":"{}","observedGeneration":{}}}}})",
                         name, generation, phase, told)));
    }
    /// It has neither phase nor generation in its status.
    void plan_of_master(const char* name, std::string_view spec) {
        change(name, json::parse(fmt::format(
                         R"({{"metadata":{{"uid":"{}","name":"{}","generation":1,
                                          "labels":{{"scale-type":"auto"}}}},
                             "spec":{}}})",
                         name, name, spec)));
    }
    void remove(const char* name) { change(name, nullptr); }
    /// The job's status names it.
    void executes(const char* name, int generation, const char* replicas = "{}",
                  const char* job = "j") {
        note(plans.job_changed(json::parse(fmt::format(
            R"({{"metadata":{{"uid":"{}"}},
                "status":{{"plan":{{"uid":"{}","generation":{},"replicas":{}}}}}}})",
            job, name, generation, replicas))));
    }

    ExecutedPlans plans;
    std::vector<std::string> wrong;

  private:
    void change(const char* name, json::value object) {
        store::StoreChange made;
        made.key = {
            .resource = "scaleplans.elastic.iml.github.io", .namespace_ = "default", .name = name};
        if (object.is_null())
            made.previous = std::make_shared<const json::value>(
                json::parse(fmt::format(R"({{"metadata":{{"uid":"{}"}}}})", name)));
        else
            made.object = std::make_shared<const json::value>(std::move(object));
        note(plans.plan_changed(made));
    }
    void note(std::vector<std::string> said) { std::ranges::move(said, std::back_inserter(wrong)); }
};

struct Case {
    const char* name;
    std::vector<std::string> wrong;
    std::function<void(Story&)> happens;
};

class ExecutedPlansTest : public ::testing::TestWithParam<Case> {};

TEST_P(ExecutedPlansTest, SaysWhatIsWrong) {
    Story story;
    GetParam().happens(story);
    EXPECT_EQ(story.wrong, GetParam().wrong);
}

constexpr const char* kFour = R"({"worker":{"replicas":4,"insteadOf":2}})";
constexpr const char* kFive = R"({"worker":{"replicas":5,"insteadOf":2}})";

std::vector<Case> cases() {
    return {
        {"OneAfterTheOther",
         {},
         [](Story& s) {
             s.plan("a", 1);
             s.plan("b", 1);
             s.executes("a", 1);
             s.plan("a", 1, "Scaling", 1);
             s.executes("a", 1);
             s.plan("a", 1, "Succeeded", 1);
             s.executes("b", 1);
             s.plan("b", 1, "Succeeded", 1);
         }},
        {"AnEditIsAnotherPlan",
         {},
         [](Story& s) {
             s.plan("a", 1);
             s.executes("a", 1);
             s.plan("a", 2);
             s.plan("a", 2, "Succeeded", 1);
             s.executes("a", 2);
             s.plan("a", 2, "Succeeded", 2);
         }},
        {"OneThatIsGoneIsNotWaitedFor",
         {},
         [](Story& s) {
             s.plan("a", 1);
             s.executes("a", 1);
             s.remove("a");
             s.executes("b", 1);
         }},
        {"Twice",
         {"ScalePlan default/a of generation 1 was executed twice"},
         [](Story& s) {
             s.plan("a", 1);
             s.executes("a", 1);
             s.plan("a", 1, "Succeeded", 1);
             s.executes("b", 1);
             s.plan("b", 1, "Succeeded", 1);
             s.executes("a", 1);
         }},
        {"ByTwoJobs",
         {"ScalePlan default/a of generation 1 was executed twice"},
         [](Story& s) {
             s.plan("a", 1);
             s.executes("a", 1);
             s.executes("a", 1, "{}", "other");
         }},
        {"AfterItsEnd",
         {"ScalePlan default/a of generation 1 was executed after its end"},
         [](Story& s) {
             s.plan("a", 1, "Failed", 1);
             s.executes("a", 1);
         }},
        {"BeforeTheEndOfAnother",
         {"ScalePlan default/b of generation 1 was executed before the end of ScalePlan default/a "
          "of generation 1"},
         [](Story& s) {
             s.plan("a", 1);
             s.plan("b", 1);
             s.executes("a", 1);
             s.executes("b", 1);
         }},
        {"WhatItAsksForChanges",
         {"ScalePlan default/a of generation 1 asks for 5 of worker now"},
         [](Story& s) {
             s.plan("a", 1);
             s.executes("a", 1, kFour);
             s.executes("a", 1, kFive);
         }},
        {"WhatItAsksForComesBack",
         {"ScalePlan default/a of generation 1 asks for 4 of worker now"},
         [](Story& s) {
             s.plan("a", 1);
             s.executes("a", 1, kFour);
             s.executes("a", 1);
             s.executes("a", 1, kFour);
         }},
        {"SuccessWithoutExecution",
         {"ScalePlan default/a of generation 1 has succeeded, and was not executed"},
         [](Story& s) { s.plan("a", 1, "Succeeded", 1); }},
        {"AnEndThatChanges",
         {"ScalePlan default/a of generation 1 had ended as Failed and is Pending now"},
         [](Story& s) {
             s.plan("a", 1, "Failed", 1);
             s.plan("a", 1, "Pending", 1);
         }},
    };
}

INSTANTIATE_TEST_SUITE_P(All, ExecutedPlansTest, ::testing::ValuesIn(cases()),
                         [](const auto& tested) { return tested.param.name; });

TEST(ExecutedPlans, ThoseThatHaveNotEndedAreOpen) {
    Story story;
    story.plan("a", 1, "Scaling", 1);
    story.plan("b", 1, "Failed", 1);
    story.plan("c", 2, "Failed", 1);
    story.plan("d", 1);
    story.remove("d");
    EXPECT_THAT(story.plans.open(), ElementsAre("default/a", "default/c"));
    EXPECT_THAT(story.wrong, IsEmpty());
}

TEST(ExecutedPlans, OneOfAMasterIsOpenWhileItAsksForSomething) {
    Story story;
    story.plan_of_master("idle", R"({"ownerJob":"j"})");
    story.plan_of_master("asks", R"({"ownerJob":"j","excludedNodes":[{"node":"a"}]})");
    EXPECT_THAT(story.plans.open(), ElementsAre("default/asks"));
}

}  // namespace
}  // namespace muster::sim::executed_plans_test
