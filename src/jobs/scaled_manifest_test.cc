#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "jobs/scale_plan.h"

namespace muster::jobs::scaled_manifest_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

const JobKind& elastic() { return *find_kind("elastic.iml.github.io/v1alpha1", "ElasticJob"); }

json::value manifest() {
    return json::parse(R"({"spec": {"replicaSpecs": {
        "Worker": {"replicas": 3, "template": {"spec": {"containers": [
            {"name": "side"},
            {"name": "main", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}}},
        "ps": {"template": {"spec": {"containers": [{"name": "a"}]}}}}}})");
}

TEST(ScaledManifest, HasTheNumbersThatAreWrittenHoweverTheTypeIsSpelled) {
    EXPECT_THAT(written_replicas(elastic(), manifest()),
                ElementsAre(Pair("ps", 1), Pair("worker", 3)));
    for (const char* hostile :
         {"3", "{}", R"({"spec": 1})", R"({"spec": {"replicaSpecs": {"worker": [], "ps": null}}})"})
        EXPECT_THAT(written_replicas(elastic(), json::parse(hostile)), IsEmpty()) << hostile;
    EXPECT_THAT(written_replicas(elastic(), json::parse(R"({"spec": {"replicaSpecs": {
                    "worker": {"replicas": 99999999999}, "ps": {"replicas": "2"},
                    "chief": {"replicas": -4}}}})")),
                ElementsAre(Pair("chief", 0), Pair("ps", 1), Pair("worker", kMaxReplicas)));
}

TEST(ScaledManifest, WhatIsAskedCountsUntilTheNumberIsEdited) {
    const ExecutedPlan plan{
        .uid = "u",
        .generation = 1,
        .replicas = {
            {"worker", {.replicas = 5, .instead_of = 3, .resource = {}}},
            {"ps", {.replicas = 2, .instead_of = 1, .resource = {{"cpu", json::value("2")}}}},
            {"chief", {.replicas = 1, .instead_of = 1, .resource = {}}}}};
    EXPECT_EQ(
        in_effect(plan, {{"worker", 3}, {"ps", 4}}),
        (std::map<std::string, AskedReplicas>{
            {"worker", plan.replicas.at("worker")},
            {"ps", {.replicas = {}, .instead_of = {}, .resource = {{"cpu", json::value("2")}}}}}));
    EXPECT_THAT(in_effect(plan, {{"worker", 4}}), IsEmpty());
}

TEST(ScaledManifest, IsAsIfItsUserHadWrittenIt) {
    const json::value scaled = with_asked(
        elastic(), manifest(),
        {{"worker", {.replicas = 5, .instead_of = 3, .resource = {{"cpu", json::value("2")}}}},
         {"ps", {.replicas = 2, .instead_of = 1, .resource = {{"memory", json::value("4Gi")}}}},
         {"evaluator", {.replicas = 1, .instead_of = 0, .resource = {}}}});
    EXPECT_EQ(scaled, json::parse(R"({"spec": {"replicaSpecs": {
        "Worker": {"replicas": 5, "template": {"spec": {"containers": [
            {"name": "side"},
            {"name": "main", "resources": {"requests": {"cpu": "2", "memory": "1Gi"},
                                           "limits": {"cpu": "2"}}}]}}},
        "ps": {"replicas": 2, "template": {"spec": {"containers": [
            {"name": "a", "resources": {"requests": {"memory": "4Gi"},
                                        "limits": {"memory": "4Gi"}}}]}}}}}})"));
}

}  // namespace
}  // namespace muster::jobs::scaled_manifest_test
