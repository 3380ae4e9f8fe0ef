#include "cli/internal/objects/wait_condition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::cli::wait_condition_test {
namespace {

using testing::HasSubstr;

constexpr const char* kPod = R"({"apiVersion":"v1","kind":"Pod","status":{"phase":"Pending",
  "conditions":[{"type":"Ready","status":"False","reason":"ContainersNotReady",
                 "message":"main waits"}]}})";
constexpr const char* kFailedJob = R"({"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob",
  "status":{"conditions":[{"type":"Failed","status":"True","reason":"JobFailed"}]}})";

WaitCondition::Answer asked(const char* wanted, const char* object) {
    const auto condition = WaitCondition::parse(wanted);
    EXPECT_TRUE(condition) << wanted;
    return condition ? condition->ask(json::parse(object)) : WaitCondition::Answer{};
}

TEST(WaitCondition, IsMetOrTellsHowItIsInstead) {
    struct Row {
        const char* wanted;
        const char* object;
        bool met;
        const char* now;
    };
    const Row kRows[] = {
        {"condition=Ready", kPod, false,
         "condition Ready is False: ContainersNotReady: main waits"},
        {"condition=ready=false", kPod, true, ""},
        {"condition=Other", kPod, false, "it has no condition Other"},
        {"jsonpath={.status.phase}=Running", kPod, false, ".status.phase is Pending"},
        {"jsonpath={.status.phase}=Pending", kPod, true, ""},
        {"jsonpath=.status.phase=Pending", kPod, true, ""},
        {"jsonpath=.status.phase", kPod, true, ""},
        {"jsonpath={.status.ip}", kPod, false, ".status.ip is not there"},
        {"jsonpath={.status.conditions[?(@.type==\"Ready\")].status}=False", kPod, true, ""},
        {"jsonpath=.status.conditions[?(@.type==\"Ready\")].status", kPod, true, ""},
        {"delete", kPod, false, "it is there"},
        {"delete", R"({"metadata":{"deletionTimestamp":"now"}})", false, "being deleted"},
    };
    for (const Row& row : kRows) {
        const auto answer = asked(row.wanted, row.object);
        EXPECT_EQ(answer.met, row.met) << row.wanted;
        EXPECT_FALSE(answer.never) << row.wanted;
        EXPECT_THAT(answer.now, HasSubstr(row.now)) << row.wanted;
    }
}

TEST(WaitCondition, AJobThatHasEndedWillNotEndOtherwise) {
    const auto never = asked("condition=Succeeded", kFailedJob);
    EXPECT_TRUE(never.never && !never.met);
    EXPECT_THAT(never.now, HasSubstr("Failed is True: JobFailed"));
    EXPECT_TRUE(asked("condition=Failed", kFailedJob).met);
    EXPECT_FALSE(asked("condition=Running", kFailedJob).never);
    EXPECT_FALSE(asked("condition=Succeeded=False", kFailedJob).never);
    // For other kinds it is not known.
    EXPECT_FALSE(asked("condition=Succeeded", R"({"apiVersion":"example.com/v1","status":{
        "conditions":[{"type":"Failed","status":"True"}]}})")
                     .never);
}

TEST(WaitCondition, SaysWhatIsWanted) {
    for (const char* text : {"", "ready", "condition=", "condition", "jsonpath=", "jsonpath={.a",
                             "jsonpath={.a}x", "jsonpath={.a}=", "jsonpath={..a}"}) {
        const auto condition = WaitCondition::parse(text);
        ASSERT_FALSE(condition) << text;
        EXPECT_THAT(condition.error().message(), HasSubstr("--for")) << text;
    }
}

}  // namespace
}  // namespace muster::cli::wait_condition_test
