#include "operator/internal/integrations/integrations.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>

#include "operator/internal/cache/owned_objects.h"
#include "operator/internal/integrations/integration_fixture.h"
#include "operator/internal/integrations/volcano.h"

namespace muster::operators::integrations_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;

constexpr std::string_view kCpu = R"({"cpu":"2"})";

/// A master and three workers of two processors each.
std::string spec(std::string_view policy, std::string_view rest = "", std::string_view more = "") {
    return fmt::format(R"({{{}"runPolicy":{{"schedulingPolicy":{}}},
                            "pytorchReplicaSpecs":{{"Master":{},"Worker":{}}}}})",
                       more, policy, replica(1, kCpu, rest), replica(3, kCpu, rest));
}

struct ObjectRow {
    std::string name;
    IntegrationType type;
    jobs::Job job;
    std::string wanted;  ///< the object's spec
};

constexpr std::string_view kAllFields =
    R"({"minAvailable":2,"queue":"team","priorityClass":"high","scheduleTimeoutSeconds":100,
        "minResources":{"cpu":"1000m","memory":"1024Mi"}})";

TEST(Integrations, ThePodGroup) {
    const auto volcano = [](std::string_view policy, std::string_view rest = "",
                            json::object annotations = {}) {
        return integrated_job(spec(policy, rest), "volcano", std::move(annotations));
    };
    const auto plugins = [](std::string_view policy) {
        return integrated_job(spec(policy), "coscheduling");
    };
    using enum IntegrationType;
    const json::object queue{{"scheduling.volcano.sh/queue-name", "noted"}};
    for (const ObjectRow& row : std::vector<ObjectRow>{
             {"Volcano", kVolcano, volcano("{}"),
              R"({"minMember":4,"minResources":{"cpu":"8"},"queue":"default"})"},
             {"Volcano, all fields", kVolcano, volcano(kAllFields),
              R"({"minMember":2,"minResources":{"cpu":"1","memory":"1Gi"},"queue":"team",
                  "priorityClassName":"high"})"},
             {"Volcano, the queue of the annotation", kVolcano, volcano("{}", "", queue),
              R"({"minMember":4,"minResources":{"cpu":"8"},"queue":"noted"})"},
             {"Volcano, the policy's queue before it", kVolcano,
              volcano(R"({"queue":"team"})", "", queue),
              R"({"minMember":4,"minResources":{"cpu":"8"},"queue":"team"})"},
             {"Volcano, the priority of the templates", kVolcano,
              volcano("{}", R"("priorityClassName":"low")"),
              R"({"minMember":4,"minResources":{"cpu":"8"},"queue":"default",
                  "priorityClassName":"low"})"},
             {"scheduler-plugins", kSchedulerPlugins, plugins("{}"),
              R"({"minMember":4,"minResources":{"cpu":"8"}})"},
             {"scheduler-plugins, all fields", kSchedulerPlugins, plugins(kAllFields),
              R"({"minMember":2,"minResources":{"cpu":"1","memory":"1Gi"},
                  "scheduleTimeoutSeconds":100})"},
             {"an elastic job", kVolcano,
              integrated_job(
                  spec("{}", "", R"("elasticPolicy":{"minReplicas":2,"maxReplicas":5},)"),
                  "volcano"),
              R"({"minMember":3,"minResources":{"cpu":"6"},"queue":"default"})"},
         }) {
        SCOPED_TRACE(row.name);
        const jobs::OwnedObject object = integration_object(row.job, row.type, {});
        EXPECT_EQ(object.name, "demo");
        EXPECT_EQ(object.type, resource_of(row.type));
        EXPECT_EQ(object.content.at("spec"), json::parse(row.wanted));
        EXPECT_THAT(integration_needs(row.job).objects, Contains(DesiredObject{row.type, true}));
        EXPECT_FALSE(differs(object.content, object)) << "what was made is what is wanted";
    }
}

TEST(Integrations, ThePodGroupHasTheJobsAnnotations) {
    const jobs::Job job =
        integrated_job(spec("{}"), "volcano",
                       {{"team", "a"}, {"kubectl.kubernetes.io/last-applied-configuration", "{}"}});
    EXPECT_THAT(integration_object(job, IntegrationType::kVolcano, {}).annotations,
                ElementsAre(Pair("team", "a")));
}

struct DriftRow {
    std::string name;
    std::string there;
    bool differs;
};

TEST(Integrations, WhatOfAPodGroupIsWrittenAgain) {
    const jobs::Job job = integrated_job(spec(R"({"queue":"team"})"), "volcano");
    const jobs::OwnedObject wanted = integration_object(job, IntegrationType::kVolcano, {});
    for (const DriftRow& row : std::vector<DriftRow>{
             {"the same", R"({"minMember":4,"minResources":{"cpu":"8"},"queue":"team"})", false},
             {"moved into another queue",
              R"({"minMember":4,"minResources":{"cpu":"8"},"queue":"other"})", false},
             {"a field of Volcano's",
              R"({"minMember":4,"minResources":{"cpu":"8"},"queue":"q","minTaskMember":{}})",
              false},
             {"without a queue", R"({"minMember":4,"minResources":{"cpu":"8"},"queue":""})", true},
             {"another number", R"({"minMember":3,"minResources":{"cpu":"8"},"queue":"team"})",
              true},
             {"more resources",
              R"({"minMember":4,"minResources":{"cpu":"8","memory":"1Gi"},"queue":"team"})", true},
             {"a priority that the job does not have any more",
              R"({"minMember":4,"minResources":{"cpu":"8"},"queue":"team",
                  "priorityClassName":"high"})",
              true},
         }) {
        SCOPED_TRACE(row.name);
        const json::object there{{"spec", json::parse(row.there)}};
        EXPECT_EQ(differs(there, wanted), row.differs);
        EXPECT_FALSE(differs(corrected(there, wanted), wanted));
    }
}

TEST(Integrations, VolcanoAdmitsWhatIsNeitherNewNorPending) {
    for (std::string_view phase : {"Inqueue", "Running", "Unknown", "Completed"})
        EXPECT_TRUE(volcano::admits(phase)) << phase;
    EXPECT_FALSE(volcano::admits(""));
    EXPECT_FALSE(volcano::admits("Pending"));
}

kube::Pod pod_of(const jobs::Job& job, const std::string& type = "Worker") {
    kube::Pod pod = jobs::build_pod(job, {type, 0}).value();
    mark_for_scheduler(job, {type, 0}, {}, pod);
    return pod;
}

TEST(Integrations, MarksOnPods) {
    const kube::Pod volcano = pod_of(integrated_job(spec("{}"), "volcano"));
    EXPECT_EQ(volcano.spec.scheduler_name, "volcano");
    EXPECT_THAT(volcano.metadata.annotations,
                ElementsAre(Pair("scheduling.k8s.io/group-name", "demo"),
                            Pair("volcano.sh/task-spec", "worker")));

    const kube::Pod plugins = pod_of(integrated_job(spec("{}"), "coscheduling"));
    EXPECT_EQ(plugins.spec.scheduler_name, "coscheduling");
    EXPECT_THAT(plugins.metadata.labels, Contains(Pair("scheduling.x-k8s.io/pod-group", "demo")));
    EXPECT_THAT(plugins.metadata.annotations, IsEmpty());

    const kube::Pod alone = pod_of(integrated_job(spec("{}"), ""));
    EXPECT_EQ(alone.spec.scheduler_name, "");
    EXPECT_THAT(alone.metadata.annotations, IsEmpty());
}

TEST(Integrations, AnotherSchedulerInTheTemplateStays) {
    const kube::Pod pod = pod_of(integrated_job(spec("{}", R"("schedulerName":"own")"), "volcano"));
    EXPECT_EQ(pod.spec.scheduler_name, "own");
}

TEST(Integrations, YunikornsApplication) {
    const jobs::Job job = integrated_job(
        fmt::format(
            R"({{"runPolicy":{{"schedulingPolicy":{{"queue":"root.team","minAvailable":3,
                                                    "scheduleTimeoutSeconds":60}}}},
                 "pytorchReplicaSpecs":{{"Master":{},"Worker":{}}}}})",
            replica(1, kCpu),
            replica(3, kCpu, R"("nodeSelector":{"gpu":"a"},"tolerations":[{"key":"gpu"}])")),
        "yunikorn");
    EXPECT_THAT(integration_needs(job).objects,
                Not(Contains(testing::Field(&DesiredObject::type, IntegrationType::kVolcano))));
    const kube::Pod pod = pod_of(job);
    EXPECT_EQ(pod.spec.scheduler_name, "yunikorn");
    EXPECT_THAT(pod.metadata.labels, Contains(Pair("applicationId", "pytorchjob-u")));
    EXPECT_THAT(pod.metadata.labels, Contains(Pair("yunikorn.apache.org/app-id", "pytorchjob-u")));
    EXPECT_THAT(pod.metadata.labels, Contains(Pair("queue", "root.team")));
    EXPECT_THAT(pod.metadata.annotations,
                Contains(Pair("yunikorn.apache.org/task-group-name", "worker")));
    EXPECT_THAT(pod.metadata.annotations,
                Contains(Pair("yunikorn.apache.org/schedulingPolicyParameters",
                              "placeholderTimeoutInSeconds=60")));
    const std::string& groups = pod.metadata.annotations.at("yunikorn.apache.org/task-groups");
    EXPECT_EQ(json::parse(groups), json::parse(R"([
        {"name":"master","minMember":1,"minResource":{"cpu":"2"}},
        {"name":"worker","minMember":2,"minResource":{"cpu":"2"},"nodeSelector":{"gpu":"a"},
         "tolerations":[{"key":"gpu"}]}])"));
    EXPECT_EQ(pod_of(job, "Master").metadata.annotations.at("yunikorn.apache.org/task-groups"),
              groups)
        << "the same on each pod";
}

TEST(Integrations, WhatATemplateTellsYunikornStays) {
    json::value written = json::parse(spec("{}"));
    written.at_pointer("/pytorchReplicaSpecs/Worker/template").as_object()["metadata"] =
        json::parse(R"({"labels":{"applicationId":"mine","queue":"root.q"},
                        "annotations":{"yunikorn.apache.org/task-groups":"[]"}})");
    const kube::Pod pod = pod_of(integrated_job(json::serialize(written), "yunikorn"));
    EXPECT_THAT(pod.metadata.labels, Contains(Pair("applicationId", "mine")));
    EXPECT_THAT(pod.metadata.labels, Not(Contains(Key("yunikorn.apache.org/app-id"))));
    EXPECT_THAT(pod.metadata.annotations,
                ElementsAre(Pair("yunikorn.apache.org/task-groups", "[]")));
}

// --- HorizontalPodAutoscaler

std::string elastic(std::string_view metrics) {
    return spec("{}", "",
                fmt::format(R"("elasticPolicy":{{"minReplicas":1,"maxReplicas":5{}}},)", metrics));
}

TEST(Integrations, TheAutoscaler) {
    const jobs::Job job = integrated_job(elastic(R"(,"metrics":[{"type":"Pods","pods":{
                      "metric":{"name":"queue","selector":null},
                      "target":{"type":"AverageValue","averageValue":"1000m"}}},
                     {"type":"Resource","resource":{"name":"cpu",
                      "target":{"type":"Utilization","averageUtilization":80}}}])"),
                                         "");
    EXPECT_THAT(integration_needs(job).objects,
                ElementsAre(DesiredObject{IntegrationType::kAutoscaler, true}));
    EXPECT_EQ(integration_object(job, IntegrationType::kAutoscaler, {}).content.at("spec"),
              json::parse(R"({
        "scaleTargetRef":{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","name":"demo"},
        "minReplicas":1,"maxReplicas":5,
        "metrics":[{"type":"Pods","pods":{"metric":{"name":"queue"},
                      "target":{"type":"AverageValue","averageValue":"1"}}},
                   {"type":"Resource","resource":{"name":"cpu",
                      "target":{"type":"Utilization","averageUtilization":80}}}]})"));
}

TEST(Integrations, TheServersMetricsStayWhereThereAreNone) {
    const jobs::OwnedObject wanted = integration_object(
        integrated_job(elastic(R"(,"metrics":[])"), ""), IntegrationType::kAutoscaler, {});
    json::object there = wanted.content;
    there.at("spec").as_object()["metrics"] = json::parse(R"([{"type":"Resource"}])");
    EXPECT_FALSE(differs(there, wanted));
}

TEST(Integrations, WithoutMetricsThereIsNoAutoscaler) {
    EXPECT_THAT(integration_needs(integrated_job(elastic(""), "")).objects,
                ElementsAre(DesiredObject{IntegrationType::kAutoscaler, false}));
    EXPECT_THAT(integration_needs(integrated_job(spec("{}"), "")).objects, IsEmpty())
        << "nothing to look for";
}

TEST(Integrations, AJobWithoutPodsHasNoGang) {
    const jobs::Job job = integrated_job(
        fmt::format(R"({{"pytorchReplicaSpecs":{{"Worker":{}}}}})", replica(0, "")), "volcano");
    EXPECT_THAT(integration_needs(job).objects,
                ElementsAre(DesiredObject{IntegrationType::kVolcano, false}));
}

}  // namespace
}  // namespace muster::operators::integrations_test
