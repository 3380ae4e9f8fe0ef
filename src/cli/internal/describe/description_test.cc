#include "cli/internal/describe/description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "cli/internal/describe/event_lines.h"
#include "cli/internal/describe/usage.h"
#include "kube/values/time.h"

namespace muster::cli::description_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const WallTime kNow = *kube::parse_time("2026-01-02T03:05:00Z");

kube::ObjectPtr object(const char* text) {
    return std::make_shared<const json::value>(json::parse(text));
}

constexpr const char* kFailedPod = R"({"apiVersion":"v1","kind":"Pod",
  "metadata":{"name":"digits-worker-0","namespace":"ml","uid":"u",
    "labels":{"app":"digits"},"creationTimestamp":"2026-01-02T03:04:00Z"},
  "spec":{"nodeName":"localhost"},
  "status":{"phase":"Failed","podIP":"10.0.0.1","containerStatuses":[{"name":"main",
    "restartCount":1,
    "state":{"terminated":{"exitCode":3,"reason":"Error","finishedAt":"2026-01-02T03:04:30Z"}},
    "lastState":{"terminated":{"exitCode":137,"signal":9,"finishedAt":"2026-01-02T03:04:10Z"}}}],
    "conditions":[{"type":"Ready","status":"False","reason":"PodFailed",
      "lastTransitionTime":"2026-01-02T03:04:30Z"}]}})";

constexpr const char* kEvent = R"({"metadata":{"name":"e","namespace":"ml"},
  "involvedObject":{"kind":"Pod","name":"digits-worker-0","uid":"u"},"type":"Warning",
  "reason":"BackOff","message":"restarts\nlater","count":3,
  "lastTimestamp":"2026-01-02T03:04:20Z"})";

TEST(Description, OfAPod) {
    EXPECT_EQ(describe_object(*object(kFailedPod), {}, {object(kEvent)}, kNow),
              "Name:           digits-worker-0\n"
              "Namespace:      ml\n"
              "Kind:           Pod (v1)\n"
              "Labels:         app=digits\n"
              "Annotations:    <none>\n"
              "Created:        2026-01-02T03:04:00Z (60s ago)\n"
              "Node:           localhost\n"
              "Phase:          Failed\n"
              "IP:             10.0.0.1\n"
              "Containers:\n"
              "  NAME   RESTARTS   STATE                BEFORE\n"
              "  main   1          exited with code 3   was killed by SIGKILL\n"
              "Conditions:\n"
              "  TYPE    STATUS   AGE   REASON      MESSAGE\n"
              "  Ready   False    30s   PodFailed   \n"
              "Events:\n"
              "  LAST SEEN   TYPE      REASON    MESSAGE\n"
              "  40s (x3)    Warning   BackOff   restarts...\n");
}

TEST(Description, OfAJobNamesTheFirstToFail) {
    const std::string text = describe_object(
        *object(R"({"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"digits"},
            "status":{"replicaStatuses":{"Worker":{"failed":1,"restarts":2}},
              "conditions":[{"type":"Failed","status":"True","message":"it broke"}]}})"),
        {object(kFailedPod)}, {}, kNow);
    EXPECT_THAT(text, HasSubstr("First to fail:  pod digits-worker-0, container main was killed by "
                                "SIGKILL\n"));
    EXPECT_THAT(text, HasSubstr("  Worker   0        0           1        2\n"));
    EXPECT_THAT(text, HasSubstr("  digits-worker-0   Failed   1          localhost\n"));
    EXPECT_THAT(text, HasSubstr("it broke"));
    EXPECT_THAT(text, HasSubstr("Events:         <none>\n"));
}

TEST(Description, OfANode) {
    const std::string text = describe_object(
        *object(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{
            "capacity":{"cpu":"2","pods":"10"},"allocatable":{"cpu":"1"},
            "nodeInfo":{"kernelVersion":"6.1"}}})"),
        {}, {}, kNow);
    EXPECT_THAT(text, HasSubstr("Kernel:         6.1\n"));
    EXPECT_THAT(text, HasSubstr("  cpu        2          1\n"));
    EXPECT_THAT(text, Not(HasSubstr("Namespace")));
}

TEST(Description, OfAnythingElseShowsItsFields) {
    const std::string text =
        describe_object(*object(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},
                    "immutable":true,"data":{"k":"v"}})"),
                        {}, {}, kNow);
    EXPECT_THAT(text, HasSubstr("immutable:      true\n"));
    EXPECT_THAT(text, HasSubstr("data:\n  k: v\n"));
}

TEST(Description, KeepsASecret) {
    const std::string text = describe_object(
        *object(R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"type":"Opaque",
                    "data":{"password":"aHVudGVyMg=="}})"),
        {}, {}, kNow);
    EXPECT_THAT(text, HasSubstr("  password   7\n"));
    EXPECT_THAT(text, Not(HasSubstr("aHVudGVyMg")));
    EXPECT_THAT(text, Not(HasSubstr("hunter2")));
}

TEST(EventLines, OfBothApisInTheOrderOfTime) {
    const auto newer = object(R"({"metadata":{"name":"n"},"regarding":{"kind":"Node","name":"n"},
        "type":"Normal","reason":"Ready","note":"it is","eventTime":"2026-01-02T03:04:50.000000Z"})");
    const ObjectTable table = event_table({newer, object(kEvent)}, kNow, true);
    ASSERT_EQ(table.rows.size(), 2u);
    EXPECT_THAT(table.rows[0].cells, testing::ElementsAre("40s (x3)", "Warning", "BackOff",
                                                          "pod/digits-worker-0", "restarts..."));
    EXPECT_THAT(table.rows[1].cells,
                testing::ElementsAre("10s", "Normal", "Ready", "node/n", "it is"));
}

TEST(EventLines, AreAboutOneObject) {
    const auto event = object(kEvent);
    EXPECT_TRUE(is_about(*event, {"Pod", "digits-worker-0", ""}));
    EXPECT_TRUE(is_about(*event, {"pod", "digits-worker-0", "u"}));
    EXPECT_FALSE(is_about(*event, {"Pod", "digits-worker-0", "another"}));
    EXPECT_FALSE(is_about(*event, {"Pod", "digits-worker-1", ""}));
    EXPECT_FALSE(is_about(*event, {"Service", "digits-worker-0", ""}));
    EXPECT_FALSE(is_about(json::value(), {"Pod", "a", ""}));
}

TEST(Usage, OfPodsAddsTheirContainers) {
    const auto low = object(R"({"metadata":{"name":"low"},"containers":[
        {"usage":{"cpu":"1500u","memory":"2Mi"}}]})");
    const auto high = object(R"({"metadata":{"name":"high"},"containers":[
        {"usage":{"cpu":"1","memory":"1Gi"}},{"usage":{"cpu":"250m","memory":"1Mi"}}]})");
    const ObjectTable table = pod_usage({low, high});
    ASSERT_EQ(table.rows.size(), 2u);
    EXPECT_THAT(table.rows[0].cells, testing::ElementsAre("high", "1250m", "1025Mi"));
    EXPECT_THAT(table.rows[1].cells, testing::ElementsAre("low", "2m", "2Mi"));
}

TEST(Usage, OfNodesIsAPartOfWhatTheyHave) {
    const auto node = object(R"({"metadata":{"name":"a"},"status":{
        "allocatable":{"cpu":"2","memory":"4Gi"}}})");
    const auto used = object(R"({"metadata":{"name":"a"},"usage":{"cpu":"500m","memory":"1Gi"}})");
    const auto unknown = object(R"({"metadata":{"name":"b"},"usage":{"cpu":"1m"}})");
    const ObjectTable table = node_usage({unknown, used}, {node});
    ASSERT_EQ(table.rows.size(), 2u);
    EXPECT_THAT(table.rows[0].cells, testing::ElementsAre("a", "500m", "25%", "1024Mi", "25%"));
    EXPECT_THAT(table.rows[1].cells,
                testing::ElementsAre("b", "1m", "<unknown>", "0Mi", "<unknown>"));
}

}  // namespace
}  // namespace muster::cli::description_test
