#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "jobs/internal/test_manifest.h"

namespace muster::jobs::status_form_test {
namespace {

const JobKind& elastic() { return *find_kind("elastic.iml.github.io/v1alpha1", "ElasticJob"); }

JobCondition condition(std::string type, std::string status = "True") {
    return {.type = std::move(type),
            .status = std::move(status),
            .reason = "r",
            .message = "m",
            .last_update_time = {},
            .last_transition_time = {}};
}

TEST(StatusForm, OfKubeflowIsTheStatusAsItIs) {
    JobStatus status;
    status.conditions = {condition("Created")};
    const json::value written = write_status(pytorch_kind(), status, {});
    EXPECT_EQ(written, json::parse(R"({"conditions":[{"type":"Created","status":"True",
                                       "reason":"r","message":"m"}]})"));
    EXPECT_EQ(read_status(pytorch_kind(), written), status);
}

TEST(StatusForm, OfDLRoverHasThePhaseAndACopy) {
    JobStatus status;
    status.conditions = {condition("Created"), condition("Running")};
    status.start_time = "2026-01-01T00:00:00Z";
    status.completion_time = "2026-01-01T00:01:00Z";
    status.replica_statuses["worker"].active = 1;
    status.replica_statuses["worker"].failed = 1;
    status.replica_statuses["worker"].selector = "a=b";
    const json::value written = write_status(elastic(), status, {{"worker", 4}});
    EXPECT_EQ(written.at("phase"), "Running");
    EXPECT_EQ(written.at("conditions"), written.at("status").at("conditions"));
    EXPECT_EQ(written.at("status").at("startTime"), "2026-01-01T00:00:00Z");
    EXPECT_EQ(written.at("status").at("completionTime"), "2026-01-01T00:01:00Z");
    EXPECT_EQ(written.at("status").at("replicaStatuses"), json::parse(R"({"worker": {
        "initial": 0, "pending": 2, "active": 1, "succeeded": 0, "failed": 1,
        "labelSelector": {"matchLabels": {
            "training.kubeflow.org/operator-name": "elasticjob-controller",
            "training.kubeflow.org/replica-type": "worker"}}}})"));
    EXPECT_EQ(read_status(elastic(), written), status) << "the copy is not read back";
}

TEST(StatusForm, ThePhaseIsTheStateThatCounts) {
    struct Row {
        std::vector<JobCondition> conditions;
        std::string phase;
    };
    for (const Row& row : std::vector<Row>{
             {{condition("Created")}, "Created"},
             {{condition("Created"), condition("Pending")}, "Pending"},
             {{condition("Created"), condition("Restarting")}, "Restarting"},
             {{condition("Created"), condition("Running", "False"), condition("Suspended")},
              "Suspended"},
             {{condition("Created"), condition("Running", "False"), condition("Failed")}, "Failed"},
             {{condition("Created"), condition("Succeeded"), condition("Blocked")}, "Succeeded"}}) {
        JobStatus status;
        status.conditions = row.conditions;
        EXPECT_EQ(write_status(elastic(), status, {}).at("phase").as_string(), row.phase);
    }
}

TEST(StatusForm, WhatUpstreamsOperatorHasWrittenIsRead) {
    const JobStatus status = read_status(elastic(), json::parse(R"({
        "phase": "Succeeded",
        "status": {"conditions": [{"type": "Succeeded", "status": "True"}],
                   "startTime": "2026-01-01T00:00:00Z",
                   "replicaStatuses": {"dlrover-master": {"active": 0, "succeeded": 1,
                                                          "labelSelector": {}}}}})"));
    EXPECT_TRUE(status.finished());
    EXPECT_EQ(status.start_time, "2026-01-01T00:00:00Z");
    EXPECT_EQ(status.replica_statuses.at("dlrover-master").succeeded, 1);
    EXPECT_TRUE(status.rest.empty());
}

TEST(StatusForm, OneThatCantBeReadIsEmpty) {
    for (const char* written : {"3", "[]", R"({"status": 3})", R"({"status": {"conditions": 3}})"})
        EXPECT_TRUE(read_status(elastic(), json::parse(written)).conditions.empty()) << written;
}

TEST(StatusForm, TheDefinitionHasUpstreamsColumnsAndFields) {
    const json::value crd = custom_resource_definition(elastic());
    EXPECT_EQ(crd.at_pointer("/metadata/name"), "elasticjobs.elastic.iml.github.io");
    const json::value& version = crd.at_pointer("/spec/versions/0");
    EXPECT_EQ(version.at("additionalPrinterColumns"),
              json::parse(R"([{"name":"Phase","type":"string","jsonPath":".status.phase"},
                              {"name":"Age","type":"date",
                               "jsonPath":".metadata.creationTimestamp"}])"));
    EXPECT_EQ(version.at_pointer("/subresources/scale/specReplicasPath"),
              ".spec.replicaSpecs.worker.replicas");
    const json::value& properties = version.at_pointer("/schema/openAPIV3Schema/properties");
    EXPECT_EQ(properties.at_pointer("/status/properties/phase/type"), "string");
    EXPECT_TRUE(
        properties.at_pointer("/spec/properties/replicaSpecs/additionalProperties/properties")
            .as_object()
            .contains("BatchScheduler"));
}

}  // namespace
}  // namespace muster::jobs::status_form_test
