#include "jobs/scale_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "jobs/internal/test_manifest.h"

namespace muster::jobs::scale_plan_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

json::value plan(const std::vector<Edit>& edits = {}) {
    json::value object = json::parse(R"({
        "apiVersion": "elastic.iml.github.io/v1alpha1", "kind": "ScalePlan",
        "metadata": {"name": "p", "labels": {"scale-type": "manual"}},
        "spec": {"ownerJob": "j", "replicaResourceSpecs": {"ps": {"replicas": 2}}}})");
    for (const Edit& edit : edits) apply_edit(object, edit.path, edit.value);
    return object;
}

std::string nodes(std::size_t number) {
    std::string list;
    for (std::size_t i = 0; i < number; ++i)
        list += (i == 0 ? "" : ", ") + ("{\"node\": \"n" + std::to_string(i) + "\"}");
    return "[" + list + "]";
}

TEST(ScalePlan, IsRead) {
    const ScalePlanReview seen = review_scale_plan(
        plan({{"spec/replicaResourceSpecs/ps/resource", R"({"cpu": 4, "memory": "1Gi"})"},
              {"spec/migratePods", R"([{"name": "j-edljob-ps-0", "resource": {"cpu": "2"}}])"},
              {"spec/createPods", R"([{"type": "worker", "rankIndex": 3}])"},
              {"spec/removePods", R"([{"type": "worker", "id": 1}])"},
              {"spec/excludedNodes", R"([{"node": "n1", "until": "2026-01-02T03:04:05Z"},
                                        {"node": "n2"}])"},
              {"spec/sparePods", R"([{"name": "j-edljob-worker-4"}, {"type": "worker", "id": 5}])"},
              {"status", R"({"phase": "Scaling", "createTime": "2026-01-01T00:00:00Z"})"}}));
    EXPECT_THAT(seen.problems, IsEmpty());
    EXPECT_THAT(seen.warnings, IsEmpty());
    EXPECT_EQ(seen.plan.job_name(), "j");
    EXPECT_TRUE(seen.plan.is_manual());
    EXPECT_EQ(seen.plan.spec.replica_resource_specs.at("ps").replicas, 2);
    EXPECT_EQ(seen.plan.spec.migrate_pods.at(0).name, "j-edljob-ps-0");
    EXPECT_EQ(seen.plan.spec.create_pods.at(0).rank_index, 3);
    EXPECT_EQ(seen.plan.spec.remove_pods.at(0).id, 1);
    EXPECT_THAT(seen.plan.spec.excluded_nodes,
                ElementsAre(ExcludedNode{.node = "n1", .until = "2026-01-02T03:04:05Z"},
                            ExcludedNode{.node = "n2", .until = ""}));
    EXPECT_EQ(seen.plan.spec.spare_pods.at(1).id, 5);
    EXPECT_EQ(seen.plan.status.phase, "Scaling");
}

TEST(ScalePlan, TheJobIsNamedByItsLabelToo) {
    for (const std::string label : {"elasticjob-name", "elasticjob.dlrover/name"}) {
        const ScalePlanReview seen = review_scale_plan(
            plan({{"spec/ownerJob", ""}, {"metadata/labels", "{\"" + label + "\": \"k\"}"}}));
        EXPECT_THAT(seen.problems, IsEmpty());
        EXPECT_EQ(seen.plan.job_name(), "k");
        EXPECT_TRUE(seen.plan.is_manual());
    }
    EXPECT_FALSE(review_scale_plan(plan({{"metadata/labels", R"({"scale-type": "auto"})"}}))
                     .plan.is_manual());
}

TEST(ScalePlan, Rules) {
    struct Row {
        std::string name;
        std::vector<Edit> edits;
        std::string field;
        std::string message;
    };
    for (const Row& row : std::vector<Row>{
             {"no job", {{"spec/ownerJob", ""}}, "spec.ownerJob", "needs the name"},
             {"no name", {{"metadata/name", ""}}, "metadata.name", "needs a name"},
             {"nothing to do", {{"spec/replicaResourceSpecs", ""}}, "spec", "changes nothing"},
             {"an unknown type",
              {{"spec/replicaResourceSpecs", R"({"PS": {"replicas": 1}})"}},
              "spec.replicaResourceSpecs.PS",
              "did you mean \"ps\"?"},
             {"the master",
              {{"spec/replicaResourceSpecs", R"({"dlrover-master": {"replicas": 1}})"}},
              "spec.replicaResourceSpecs.dlrover-master",
              "is not scaled"},
             {"fewer than none",
              {{"spec/replicaResourceSpecs/ps/replicas", "-1"}},
              "spec.replicaResourceSpecs.ps.replicas",
              "greater than or equal to 0"},
             {"no amount",
              {{"spec/replicaResourceSpecs/ps/resource", R"({"cpu": "-2"})"}},
              "spec.replicaResourceSpecs.ps.resource.cpu",
              "is no amount"},
             {"another resource of one pod",
              {{"spec/createPods",
                R"([{"type": "ps", "resource": {"cpu": "1", "nvidia.com/gpu": 1}}])"}},
              "spec.createPods[0].resource[nvidia.com/gpu]",
              "cpu and memory of their own"},
             {"a pod without memory",
              {{"spec/migratePods", R"([{"type": "ps", "id": 0, "resource": {"memory": 0}}])"}},
              "spec.migratePods[0].resource.memory",
              "needs more than 0"},
             {"an amount of one pod that can't be",
              {{"spec/migratePods", R"([{"type": "ps", "id": 0, "resource": {"memory": "-1"}}])"}},
              "spec.migratePods[0].resource.memory",
              "is no amount"},
             {"a pod that is not named",
              {{"spec/removePods", R"([{"type": "worker"}])"}},
              "spec.removePods[0].name",
              "which pod is meant"},
             {"a pod to make of no type",
              {{"spec/createPods", R"([{"rankIndex": 1}])"}},
              "spec.createPods[0].type",
              "needs its replica type"},
             {"two changes of one pod",
              {{"spec/removePods", R"([{"type": "worker", "id": 1}])"},
               {"spec/migratePods", R"([{"type": "worker", "id": 1}])"}},
              "spec.migratePods[0]",
              "twice"},
             {"a node of no name",
              {{"spec/excludedNodes", R"([{"node": ""}])"}},
              "spec.excludedNodes[0].node",
              "is no node's name"},
             {"a node that can't be",
              {{"spec/excludedNodes", R"([{"node": "n1"}, {"node": "a b"}])"}},
              "spec.excludedNodes[1].node",
              "is no node's name"},
             {"a node until no time",
              {{"spec/excludedNodes", R"([{"node": "n1", "until": "soon"}])"}},
              "spec.excludedNodes[0].until",
              "time"},
             {"too many nodes",
              {{"spec/excludedNodes", nodes(kMostExcludedNodes + 1)}},
              "spec.excludedNodes",
              "names 33 nodes, and a job leaves out at most 32"},
             {"a spare that is not named",
              {{"spec/sparePods", R"([{"type": "worker"}])"}},
              "spec.sparePods[0].name",
              "which pod is meant"},
             {"no object", {{"spec/migratePods", "3"}}, "spec.migratePods", "array"}}) {
        SCOPED_TRACE(row.name);
        EXPECT_THAT(review_scale_plan(plan(row.edits)).problems,
                    ElementsAre(AllOf(Field(&Cause::field, row.field),
                                      Field(&Cause::message, HasSubstr(row.message)))));
    }
    for (const char* hostile : {"3", "[]", "{}", R"({"spec": 3, "metadata": []})"})
        EXPECT_FALSE(review_scale_plan(json::parse(hostile)).problems.empty()) << hostile;
}

TEST(ScalePlan, OnlyThatOfAMasterMayAskForNothing) {
    const auto problems = [](const std::string& type) {
        return review_scale_plan(plan({{"spec/replicaResourceSpecs", ""},
                                       {"metadata/labels", "{\"scale-type\": \"" + type + "\"}"}}))
            .problems;
    };
    EXPECT_THAT(problems("auto"), IsEmpty());
    EXPECT_THAT(problems("manual"), ElementsAre(Field(&Cause::field, "spec")));
    EXPECT_THAT(review_scale_plan(plan({{"spec/replicaResourceSpecs", ""},
                                        {"spec/excludedNodes", nodes(kMostExcludedNodes)}}))
                    .problems,
                IsEmpty())
        << "nodes to leave out are something";
}

TEST(ScalePlan, Warnings) {
    const auto fields = [](const std::vector<Edit>& edits) {
        std::vector<std::string> found;
        for (const Cause& cause : review_scale_plan(plan(edits)).warnings)
            found.push_back(cause.reason + " " + cause.field);
        return found;
    };
    EXPECT_THAT(fields({{"spec/psHosts", R"(["a:1"])"}}), ElementsAre("Ineffective spec.psHosts"));
    // Upstream's master writes what such a pod had.
    EXPECT_THAT(
        fields({{"spec/removePods", R"([{"type": "ps", "id": 0, "resource": {"cpu": 1}}])"}}),
        ElementsAre("Ineffective spec.removePods[0].resource"));
    EXPECT_THAT(fields({{"metadata/labels", R"({"scale-type": "hand"})"}}),
                ElementsAre("Ineffective metadata.labels[scale-type]"));
    EXPECT_THAT(fields({{"metadata/labels", R"({"elasticjob-name": "k"})"}}),
                ElementsAre("Doubtful metadata.labels[elasticjob-name]"));
}

TEST(ScalePlan, TheOneOfAMasterAsksForNothingAtFirst) {
    Job job;
    job.kind = find_kind("elastic.iml.github.io/v1alpha1", "ElasticJob");
    job.metadata.name = "j";
    job.metadata.namespace_ = "ns";
    job.metadata.uid = "u";
    const json::value made = own_plan_manifest(job);
    EXPECT_EQ(made.at_pointer("/metadata/name"), "j-plan");
    EXPECT_EQ(made.at_pointer("/metadata/namespace"), "ns");
    EXPECT_EQ(made.at_pointer("/metadata/ownerReferences/0/uid"), "u");
    EXPECT_EQ(made.at_pointer("/metadata/ownerReferences/0/controller"), true);
    const ScalePlanReview seen = review_scale_plan(made);
    EXPECT_THAT(seen.problems, IsEmpty());
    EXPECT_THAT(seen.warnings, IsEmpty());
    EXPECT_EQ(seen.plan.job_name(), "j");
    EXPECT_FALSE(seen.plan.is_manual());
    EXPECT_TRUE(seen.plan.spec.asks_nothing());
}

TEST(ScalePlan, ItsDefinition) {
    const json::value crd = scale_plan_definition();
    EXPECT_EQ(crd.at_pointer("/metadata/name"), "scaleplans.elastic.iml.github.io");
    const json::value& written = crd.at_pointer("/spec/versions/0/schema/openAPIV3Schema");
    const auto [schema, problems] = kube::Schema::from_openapi(written, "schema");
    EXPECT_THAT(problems, IsEmpty());
    EXPECT_TRUE(crd.at_pointer("/spec/versions/0/subresources").as_object().contains("status"));
}

}  // namespace
}  // namespace muster::jobs::scale_plan_test
