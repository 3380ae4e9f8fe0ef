#include <gmock/gmock.h>

#include <boost/json/parse.hpp>

#include "operator/internal/integration_fixture.h"

// Gangs of Volcano, scheduler-plugins and YuniKorn, through the embedded API.

namespace muster::operators::operator_gang_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;
using enum IntegrationType;

class VolcanoWorld : public IntegrationWorld, public ::testing::Test {
  protected:
    VolcanoWorld() : IntegrationWorld("Volcano") {}

    void start() {
        define(kVolcano);
        w.start_operator();
    }
    void run() {
        start();
        create(job_object({}));
        set_group_phase("Inqueue");
        w.set_all("Running");
        w.settle();
        EXPECT_THAT(conditions(), ElementsAre("Created", "Running"));
        writes.clear();
    }
};

TEST_F(VolcanoWorld, PodsAreMadeWhenTheirGangIsAdmitted) {
    start();
    create(job_object({}));
    EXPECT_EQ(spec(kVolcano), json::parse(R"({"minMember":3,"queue":"default"})"));
    const json::value group = *object(kVolcano);
    EXPECT_EQ(group.at_pointer("/metadata/ownerReferences/0/name").as_string(), "demo");
    EXPECT_THAT(w.pods(), IsEmpty());
    EXPECT_THAT(conditions(), ElementsAre("Created", "Queued"));
    EXPECT_TRUE(w.status("demo").start_time.empty());
    set_group_phase("Pending");
    EXPECT_THAT(w.pods(), IsEmpty());
    w.run_for(10min);
    EXPECT_THAT(events(), HasSubstr("PyTorchJobQueued: "));

    set_group_phase("Inqueue");
    EXPECT_THAT(w.pods(), SizeIs(3));
    EXPECT_THAT(conditions(), ElementsAre("Created"));
    EXPECT_EQ(w.annotation("demo-worker-1", "scheduling.k8s.io/group-name"), "demo");
    EXPECT_EQ(w.annotation("demo-worker-1", "volcano.sh/task-spec"), "worker");
    EXPECT_EQ(w.object(kube::types::kPods, "demo-master-0")
                  ->at_pointer("/spec/schedulerName")
                  .as_string(),
              "volcano");
    EXPECT_THAT(writes, ElementsAre("POST podgroups")) << "and what it became is not written again";
}

TEST_F(VolcanoWorld, OneThatIsDeletedAgainAndAgainIsMadeAfterPauses) {
    run();
    for (int second = 0; second < 600; ++second) {
        w.run_for(1s);
        if (!object(kVolcano)) continue;
        ASSERT_TRUE(w.wait(w.client.remove(resource_of(kVolcano), "default", "demo")).has_value());
    }
    EXPECT_GE(writes.size(), 5U);
    EXPECT_LE(writes.size(), 7U);
    EXPECT_THAT(writes, ::testing::Each("POST podgroups"));
    EXPECT_THAT(events(), HasSubstr("DeletedAgain: PodGroup demo was deleted soon"));
}

TEST_F(VolcanoWorld, ThatWeDeleteOneIsNotHeldAgainstIt) {
    run();
    for (int i = 0; i < 5; ++i) {
        w.suspend_job("demo", true);
        w.settle();
        w.reap();
        w.settle();
        EXPECT_FALSE(object(kVolcano).has_value());
        w.suspend_job("demo", false);
        w.settle();
        EXPECT_TRUE(object(kVolcano).has_value());
    }
}

TEST_F(VolcanoWorld, ThePodGroupGoesWithTheEndOfTheJob) {
    run();
    finish();
    EXPECT_FALSE(object(kVolcano).has_value());
    EXPECT_THAT(events(), HasSubstr("SuccessfulDeletePodGroup"));
    w.run_for(10min);
    EXPECT_THAT(writes, ElementsAre("DELETE podgroups"));
}

TEST_F(VolcanoWorld, ThePodGroupGoesThoughTheOperatorWasAwayAtTheEnd) {
    run();
    w.transport.writes_left = 1;  // the status
    w.set_phase("demo-master-0", "Succeeded", 0);
    w.settle();
    EXPECT_TRUE(object(kVolcano).has_value());
    w.stop_operator();
    w.transport.writes_left.reset();
    w.start_operator();
    w.settle();
    EXPECT_FALSE(object(kVolcano).has_value());
}

TEST_F(VolcanoWorld, ASuspendedJobHasNone) {
    run();
    w.suspend_job("demo", true);
    w.settle();
    w.reap();
    w.settle();
    EXPECT_FALSE(object(kVolcano).has_value());
    EXPECT_THAT(w.pods(), IsEmpty());
    EXPECT_TRUE(w.status("demo").is("Suspended"));
    w.suspend_job("demo", false);
    w.settle();
    EXPECT_TRUE(object(kVolcano).has_value());
    EXPECT_THAT(w.pods(), IsEmpty()) << "it queues again";
    EXPECT_THAT(conditions(), Contains("Queued"));
    set_group_phase("Running");
    EXPECT_THAT(w.pods(), SizeIs(3));
}

TEST_F(VolcanoWorld, IsKeptAsTheJobWantsItButForTheQueue) {
    run();
    edit(kVolcano, [](json::object& group) { group["spec"].as_object()["minMember"] = 1; });
    EXPECT_EQ(spec(kVolcano).at("minMember"), 3);
    edit(kVolcano, [](json::object& group) { group["spec"].as_object()["queue"] = "moved"; });
    w.run_for(1min);
    EXPECT_EQ(spec(kVolcano).at("queue"), "moved");
    EXPECT_THAT(writes, ElementsAre("PUT podgroups"));

    w.scale_workers("demo", 4);
    w.settle();
    EXPECT_EQ(spec(kVolcano).at("minMember"), 5);
    EXPECT_EQ(spec(kVolcano).at("queue"), "moved");
    EXPECT_THAT(w.pods(), SizeIs(5)) << "the gang is admitted";

    EXPECT_TRUE(w.wait(w.client.remove(resource_of(kVolcano), "default", "demo")).has_value());
    w.settle();
    EXPECT_TRUE(object(kVolcano).has_value()) << "somebody deleted it";
}

TEST_F(VolcanoWorld, WhatVolcanoWritesDownCostsNothing) {
    run();
    const int before = w.transport.writes;
    for (int i = 0; i < 20; ++i)
        edit(
            kVolcano,
            [&](json::object& group) {
                group["status"] = json::object{{"phase", "Running"}, {"running", i}};
            },
            "status");
    w.restart_operator();
    w.run_for(10min);
    EXPECT_EQ(w.transport.writes, before);
    EXPECT_THAT(writes, IsEmpty());
}

TEST_F(VolcanoWorld, AMissingTypeIsToldAndUsedWhenItComes) {
    w.start_operator();
    create(job_object({}));
    EXPECT_THAT(w.pods(), IsEmpty());
    EXPECT_THAT(conditions(), ElementsAre("Created", "Blocked"));
    EXPECT_THAT(w.status("demo").conditions.back().message,
                HasSubstr("podgroups.scheduling.volcano.sh"));
    EXPECT_THAT(events(), HasSubstr("PyTorchJobPodGroupMissing: "));
    const int before = w.transport.writes;
    w.run_for(1h);
    EXPECT_EQ(w.transport.writes, before) << "nothing is tried in vain";

    define(kVolcano);
    w.run_for(1min);
    EXPECT_TRUE(object(kVolcano).has_value());
    EXPECT_THAT(conditions(), ElementsAre("Created", "Queued"));
    set_group_phase("Inqueue");
    EXPECT_THAT(w.pods(), SizeIs(3));
    EXPECT_THAT(conditions(), ElementsAre("Created"));
}

TEST_F(VolcanoWorld, AMissingTypeIsNobodysBusinessWhosePodsAreThere) {
    run();
    w.stop_operator();
    auto gone = w.wait(w.client.remove(kube::types::kCustomResourceDefinitions, "",
                                       "podgroups.scheduling.volcano.sh"));
    ASSERT_TRUE(gone.has_value());
    w.start_operator();
    w.settle();
    EXPECT_THAT(conditions(), ElementsAre("Created", "Running"));
    w.force_delete_pod("demo-worker-0");
    w.settle();
    EXPECT_THAT(conditions(), Contains("Blocked"));
    EXPECT_THAT(w.pods(), SizeIs(2));
}

TEST_F(VolcanoWorld, ASecondJobDoesNotWaitForWhatOneLacks) {
    w.start_operator();
    create(job_object({}));
    auto other = job_object({.name = "other"});
    other["spec"].at_pointer("/runPolicy").as_object()["managedBy"] = "kueue.x-k8s.io/multikueue";
    create(std::move(other));
    EXPECT_TRUE(w.status("other").conditions.empty()) << "somebody else's";
}

TEST_F(VolcanoWorld, OneOfSomebodyElsesBlocks) {
    start();
    auto made = w.wait(w.client.create(
        resource_of(kVolcano), "default",
        json::parse(R"({"apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",
                        "metadata":{"name":"demo"},"spec":{"minMember":1}})")));
    ASSERT_TRUE(made.has_value()) << made.error().message();
    create(job_object({}));
    EXPECT_THAT(w.pods(), IsEmpty());
    EXPECT_THAT(conditions(), ElementsAre("Created", "Blocked"));
    EXPECT_THAT(events(), HasSubstr("ErrResourceExists"));
    EXPECT_EQ(spec(kVolcano).at("minMember"), 1);
    EXPECT_TRUE(w.wait(w.client.remove(resource_of(kVolcano), "default", "demo")).has_value());
    w.run_for(20min);
    EXPECT_EQ(spec(kVolcano).at("minMember"), 3);
}

// A job that the training-operator has queued: its PodGroups have no labels.
TEST_F(VolcanoWorld, OneOfUpstreamsIsTakenOver) {
    define(kVolcano);
    create(job_object({}));
    auto job = w.object(pytorch().resource, "demo");
    json::value group = json::parse(R"({
        "apiVersion":"scheduling.volcano.sh/v1beta1","kind":"PodGroup",
        "metadata":{"name":"demo","ownerReferences":[{"apiVersion":"kubeflow.org/v1",
            "kind":"PyTorchJob","name":"demo","controller":true}]},
        "spec":{"minMember":3,"queue":"theirs"},"status":{"phase":"Inqueue"}})");
    group.at_pointer("/metadata/ownerReferences/0").as_object()["uid"] =
        job->at_pointer("/metadata/uid");
    auto made = w.wait(w.client.create(resource_of(kVolcano), "default", group));
    ASSERT_TRUE(made.has_value()) << made.error().message();
    set_group_phase("Inqueue");
    w.start_operator();
    w.settle();
    EXPECT_THAT(w.pods(), SizeIs(3));
    EXPECT_EQ(spec(kVolcano).at("queue"), "theirs");
}

TEST_F(VolcanoWorld, TheElasticGangIsTheFewest) {
    start();
    json::object job = job_object({.workers = 4});
    job["spec"].as_object()["elasticPolicy"] = json::parse(R"({"minReplicas":2,"maxReplicas":6})");
    create(std::move(job));
    EXPECT_EQ(spec(kVolcano).at("minMember"), 3);
    set_group_phase("Inqueue");
    EXPECT_THAT(w.pods(), SizeIs(5));
    w.scale_workers("demo", 5);
    w.settle();
    EXPECT_EQ(spec(kVolcano).at("minMember"), 3);
    EXPECT_THAT(w.pods(), SizeIs(6));
}

/// A gang of two, of a master and three workers of these priorities.
json::object prioritized(std::string_view master, std::string_view worker) {
    json::object job = job_object({.workers = 3});
    json::object& spec = job["spec"].as_object();
    spec["runPolicy"].as_object()["schedulingPolicy"] = json::object{{"minAvailable", 2}};
    const auto set = [&](std::string_view type, std::string_view name, const char* cpu) {
        json::object& pod =
            spec["pytorchReplicaSpecs"].as_object()[type].at_pointer("/template/spec").as_object();
        pod["priorityClassName"] = name;
        pod["containers"].as_array()[0].as_object()["resources"] =
            json::object{{"requests", {{"cpu", cpu}}}};
    };
    set("Master", master, "1");
    set("Worker", worker, "8");
    return job;
}

TEST_F(VolcanoWorld, PrioritiesAreLookedUp) {
    const kube::ResourceType classes{"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass",
                                     false};
    const auto define_class = [&](const std::string& name, int value) {
        auto made = w.wait(w.client.create(classes, "",
                                           json::object{{"apiVersion", "scheduling.k8s.io/v1"},
                                                        {"kind", "PriorityClass"},
                                                        {"metadata", {{"name", name}}},
                                                        {"value", value}}));
        ASSERT_TRUE(made.has_value()) << made.error().message();
        w.settle();
    };
    define_class("low", 10);
    start();
    create(job_object({.name = "simple"}));
    EXPECT_THAT(watched, Not(Contains("priorityclasses"))) << "nothing depends on them";
    create(prioritized("low", "high"));
    EXPECT_EQ(spec(kVolcano).at_pointer("/minResources/cpu").as_string(), "9")
        << "there is no class high";
    define_class("high", 100);
    EXPECT_EQ(spec(kVolcano).at_pointer("/minResources/cpu").as_string(), "16");
    EXPECT_THAT(watched, Contains("priorityclasses"));
}

TEST_F(VolcanoWorld, AnotherSchedulerInTheTemplateIsTold) {
    start();
    json::object job = job_object({});
    job["spec"]
        .at_pointer("/pytorchReplicaSpecs/Worker/template/spec")
        .as_object()["schedulerName"] = "default-scheduler";
    create(std::move(job));
    set_group_phase("Inqueue");
    EXPECT_EQ(w.object(kube::types::kPods, "demo-worker-0")
                  ->at_pointer("/spec/schedulerName")
                  .as_string(),
              "default-scheduler");
    EXPECT_THAT(events(), HasSubstr("SetPodTemplateSchedulerName: "));
}

// --- other schedulers

class ClusterWorld : public IntegrationWorld, public ::testing::Test {};

TEST_F(ClusterWorld, WithoutAnIntegrationNothingOfTheirsIsRead) {
    w.start_operator();
    create(job_object({}));
    w.run_for(10min);
    EXPECT_THAT(w.pods(), SizeIs(3));
    EXPECT_THAT(watched, ElementsAre(""));
    EXPECT_THAT(writes, IsEmpty());
}

TEST_F(ClusterWorld, TheTemplateChoosesTheScheduler) {
    define(kVolcano);
    w.start_operator();
    json::object job = job_object({});
    job["spec"]
        .at_pointer("/pytorchReplicaSpecs/Master/template/spec")
        .as_object()["schedulerName"] = "volcano";
    create(std::move(job));
    EXPECT_TRUE(object(kVolcano).has_value());
    set_group_phase("Inqueue");
    EXPECT_EQ(w.object(kube::types::kPods, "demo-worker-0")
                  ->at_pointer("/spec/schedulerName")
                  .as_string(),
              "volcano")
        << "a gang is placed by one scheduler";
}

TEST(GangOnOneMachine, ATemplateChoosesNobody) {
    World w;
    w.start_operator();
    json::object job = job_object({});
    job["spec"]
        .at_pointer("/pytorchReplicaSpecs/Master/template/spec")
        .as_object()["schedulerName"] = "volcano";
    auto created = w.wait(w.client.create(pytorch().resource, "default", std::move(job)));
    ASSERT_TRUE(created.has_value());
    w.settle();
    EXPECT_THAT(w.pods(), SizeIs(3));
    EXPECT_EQ(w.annotation("demo-worker-0", "scheduling.k8s.io/group-name"), "");
}

TEST(GangOfSchedulerPlugins, ItsPodGroupComesBeforeItsPods) {
    IntegrationWorld world("coscheduling");
    world.define(kSchedulerPlugins);
    world.w.start_operator();
    std::vector<std::string> created;
    world.w.transport.before_write = [&](const kube::Request& request) {
        if (request.method == kube::Method::kPost && !request.path.ends_with("/events"))
            created.push_back(request.path.substr(request.path.rfind('/') + 1));
    };
    json::object job = job_object({});
    job["spec"].at_pointer("/runPolicy").as_object()["schedulingPolicy"] =
        json::object{{"scheduleTimeoutSeconds", 30}};
    world.create(std::move(job));
    ASSERT_THAT(created, Not(IsEmpty()));
    EXPECT_EQ(created.front(), "podgroups");
    EXPECT_EQ(world.spec(kSchedulerPlugins),
              json::parse(R"({"minMember":3,"scheduleTimeoutSeconds":30})"));
    EXPECT_THAT(world.w.pods(), SizeIs(3));
    const auto pod = world.w.object(kube::types::kPods, "demo-worker-0");
    EXPECT_EQ(pod->at("metadata").at("labels").at("scheduling.x-k8s.io/pod-group").as_string(),
              "demo");
    EXPECT_EQ(pod->at_pointer("/spec/schedulerName").as_string(), "coscheduling");
    EXPECT_THAT(world.watched, Contains("podgroups"));
}

TEST(GangOfYunikorn, IsToldByThePodsAlone) {
    IntegrationWorld world("yunikorn");
    world.w.start_operator();
    world.create(job_object({}));
    EXPECT_THAT(world.w.pods(), SizeIs(3));
    EXPECT_EQ(world.w.annotation("demo-master-0", "yunikorn.apache.org/task-group-name"), "master");
    EXPECT_EQ(world.w.annotation("demo-master-0", "yunikorn.apache.org/task-groups"),
              world.w.annotation("demo-worker-1", "yunikorn.apache.org/task-groups"));
    EXPECT_THAT(world.watched, ElementsAre(""));
}

TEST(GangOfMpi, TheLauncherThatWaitsIsNotCounted) {
    IntegrationWorld world("volcano");
    world.define(kVolcano);
    world.w.start_operator();
    const kube::ResourceType& mpijobs = jobs::find_kind("kubeflow.org/v2beta1", "MPIJob")->resource;
    auto created = world.w.wait(world.w.client.create(mpijobs, "default", json::parse(R"({
        "apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob", "metadata": {"name": "demo"},
        "spec": {"mpiReplicaSpecs": {
            "Launcher": {"template": {"spec": {"containers": [
                {"name": "l", "image": "x", "command": ["mpirun"]}]}}},
            "Worker": {"replicas": 2, "template": {"spec": {"containers": [
                {"name": "w", "image": "x"}]}}}}}})")));
    ASSERT_TRUE(created.has_value()) << created.error().message();
    world.w.settle();
    EXPECT_EQ(world.spec(kVolcano).at("minMember"), 2);
    EXPECT_THAT(world.w.pods(), IsEmpty());
    world.set_group_phase("Inqueue");
    EXPECT_THAT(world.w.pods(), ElementsAre("demo-worker-0", "demo-worker-1"));
}

}  // namespace
}  // namespace muster::operators::operator_gang_test
