#include "operator/operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>

#include "operator/internal/world_fixture.h"

namespace muster::operators::operator_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class OperatorTest : public ::testing::Test {
  protected:
    OperatorTest() { world.start_operator(); }

    void start_job(const JobSketch& sketch) { world.run_job(sketch); }

    World world;
};

// pytorchjob_controller_test.go "Should get the corresponding resources successfully".
TEST_F(OperatorTest, AJobRunsToItsSuccess) {
    world.create_job({});
    world.settle();
    EXPECT_THAT(world.pods(), ElementsAre("demo-master-0", "demo-worker-0", "demo-worker-1"));
    EXPECT_THAT(world.services(), ElementsAre("demo-master-0", "demo-worker-0", "demo-worker-1"));
    jobs::JobStatus status = world.status("demo");
    EXPECT_THAT(summary(status), ElementsAre("Created"));
    EXPECT_NE(status.start_time, "");
    for (const kube::ResourceType& type : {kube::types::kPods, kube::types::kServices}) {
        auto made = world.object(type, "demo-worker-1");
        const json::value& owner = made->at("metadata").at("ownerReferences").at(0);
        EXPECT_EQ(owner.at("kind"), "PyTorchJob");
        EXPECT_EQ(owner.at("name"), "demo");
        EXPECT_EQ(owner.at("controller"), true);
    }

    world.set_all("Running");
    world.settle();
    status = world.status("demo");
    EXPECT_THAT(summary(status), ElementsAre("Created", "Running"));
    EXPECT_EQ(status.replica_statuses["Worker"].active, 2);

    world.set_phase("demo-master-0", "Succeeded", 0);
    world.settle();
    status = world.status("demo");
    EXPECT_THAT(summary(status), ElementsAre("Created", "Running=False", "Succeeded"));
    EXPECT_NE(status.completion_time, "");
    EXPECT_EQ(status.replica_statuses["Master"].succeeded, 1);
    EXPECT_THAT(world.pods(), SizeIs(3)) << "cleanPodPolicy None keeps them";

    EXPECT_THAT(world.events("demo"),
                ::testing::UnorderedElementsAre(
                    "SuccessfulCreatePod: Created pod: demo-master-0",
                    "SuccessfulCreatePod: Created pod: demo-worker-0",
                    "SuccessfulCreatePod: Created pod: demo-worker-1",
                    "SuccessfulCreateService: Created service: demo-master-0",
                    "SuccessfulCreateService: Created service: demo-worker-0",
                    "SuccessfulCreateService: Created service: demo-worker-1",
                    "ExitedWithCode: Pod: default.demo-master-0 exited with code 0",
                    "PyTorchJobSucceeded: PyTorchJob demo is successfully completed."));
}

TEST_F(OperatorTest, AQuietWorldMakesNoWrites) {
    start_job({});
    world.run_for(1min);
    const int before = world.transport.writes + world.transport.event_writes;
    world.run_for(24h);
    EXPECT_EQ(world.transport.writes + world.transport.event_writes, before);
}

TEST_F(OperatorTest, AReplicaCostsTwoRequests) {
    world.create_job({.workers = 20});
    world.settle();
    // A pod and a service each, and the status.
    EXPECT_EQ(world.transport.writes, 21 * 2 + 1);
    EXPECT_THAT(world.pods(), SizeIs(21));
}

struct RestartRow {
    std::string name;
    std::string policy;
    std::optional<std::int32_t> exit_code;
    bool restarts;
};
class WorkerDies : public OperatorTest, public ::testing::WithParamInterface<RestartRow> {};

TEST_P(WorkerDies, UnderItsPolicy) {
    const RestartRow& row = GetParam();
    start_job({.policy = row.policy});
    const std::string old_uid = world.uid("demo-worker-1");
    std::vector<std::string> states;  // what the State column showed
    world.transport.before_write = [&](const kube::Request& request) {
        if (request.path.ends_with("/status"))
            states.emplace_back(request.body->at("status")
                                    .at("conditions")
                                    .as_array()
                                    .back()
                                    .at("type")
                                    .as_string());
    };
    world.set_phase("demo-worker-1", "Failed", row.exit_code);
    world.settle();
    jobs::JobStatus status = world.status("demo");
    if (!row.restarts) {
        EXPECT_THAT(summary(status), ElementsAre("Created", "Running=False", "Failed"));
        EXPECT_NE(status.completion_time, "");
        EXPECT_EQ(world.uid("demo-worker-1"), old_uid);
        return;
    }
    // A pod that ended is gone as soon as it is deleted, and the next one takes its place.
    EXPECT_THAT(states, Contains("Restarting"));
    EXPECT_NE(world.uid("demo-worker-1"), old_uid);
    EXPECT_NE(world.uid("demo-worker-1"), "");
    world.set_phase("demo-worker-1", "Running");
    world.settle();
    status = world.status("demo");
    EXPECT_THAT(summary(status), ElementsAre("Created", "Running"));
    EXPECT_EQ(status.replica_statuses["Worker"].active, 2);
    EXPECT_THAT(world.events("demo"),
                Contains("PyTorchJobRestarting: job demo is restarting because Worker replica(s) "
                         "failed."));
    EXPECT_THAT(world.events("demo"), Contains("SuccessfulDeletePod: Deleted pod: demo-worker-1"));
}

INSTANTIATE_TEST_SUITE_P(Policies, WorkerDies,
                         ::testing::Values(RestartRow{"Always", "Always", std::nullopt, true},
                                           RestartRow{"OnFailure", "OnFailure", std::nullopt, true},
                                           RestartRow{"Never", "Never", 137, false},
                                           RestartRow{"ExitCode137", "ExitCode", 137, true},
                                           RestartRow{"ExitCode1", "ExitCode", 1, false},
                                           RestartRow{"Evicted", "ExitCode", std::nullopt, true}),
                         [](const auto& info) { return info.param.name; });

TEST_F(OperatorTest, AMasterThatExitsWithOneFailsTheJob) {
    start_job({.policy = "Never"});
    world.set_phase("demo-master-0", "Failed", 1);
    world.settle();
    const jobs::JobStatus status = world.status("demo");
    EXPECT_THAT(summary(status), ElementsAre("Created", "Running=False", "Failed"));
    EXPECT_EQ(status.replica_statuses.at("Master").failed, 1);
    EXPECT_THAT(world.events("demo"),
                Contains("ExitedWithCode: Pod: default.demo-master-0 exited with code 1"));
    EXPECT_THAT(
        world.events("demo"),
        Contains(
            "PyTorchJobFailed: PyTorchJob demo is failed because 1 Master replica(s) failed."));
}

TEST_F(OperatorTest, ARunningPodThatAUserDeletesIsMadeAgain) {
    start_job({});
    const std::string old_uid = world.uid("demo-worker-0");
    world.delete_pod("demo-worker-0");
    world.settle();
    EXPECT_THAT(summary(world.status("demo")), ElementsAre("Created", "Restarting"));
    world.reap();
    world.settle();
    EXPECT_NE(world.uid("demo-worker-0"), old_uid);
    EXPECT_NE(world.uid("demo-worker-0"), "");
}

TEST_F(OperatorTest, AServiceThatAUserDeletesIsMadeAgain) {
    start_job({});
    world.delete_service("demo-master-0");
    world.settle();
    EXPECT_THAT(world.services(), SizeIs(3));
}

TEST_F(OperatorTest, AForeignPodWithOurNameIsReportedAndLeftAlone) {
    json::object foreign{
        {"apiVersion", "v1"},
        {"kind", "Pod"},
        {"metadata", json::object{{"name", "demo-worker-0"}}},
        {"spec",
         json::object{{"containers", json::array{json::object{{"name", "c"}, {"image", "i"}}}}}}};
    ASSERT_TRUE(world.wait(world.client.create(kube::types::kPods, "default", std::move(foreign)))
                    .has_value());
    const std::string uid = world.uid("demo-worker-0");
    world.create_job({});
    world.settle();
    EXPECT_THAT(world.pods(), SizeIs(3)) << "the others are created";
    EXPECT_EQ(world.uid("demo-worker-0"), uid);
    EXPECT_THAT(world.events("demo"), Contains(HasSubstr("FailedCreatePod")));
    EXPECT_THAT(world.events("demo"), Contains(HasSubstr("has no owner")));

    // It retries, ever more rarely, and gets on when the way is free.
    const int before = world.transport.writes;
    world.run_for(10min);
    EXPECT_LT(world.transport.writes - before, 30);
    world.delete_pod("demo-worker-0");
    world.run_for(2min);
    EXPECT_NE(world.uid("demo-worker-0"), uid);
    EXPECT_NE(world.uid("demo-worker-0"), "");
}

TEST_F(OperatorTest, AnotherOperatorGoesOnWhereTheFirstStopped) {
    world.create_job({.workers = 5});
    world.run_for(1us);
    world.stop_operator();
    world.start_operator();
    world.settle();
    EXPECT_THAT(world.pods(), SizeIs(6));
    EXPECT_THAT(world.services(), SizeIs(6));

    world.set_all("Running");
    world.stop_operator();
    const std::string old_uid = world.uid("demo-worker-2");
    world.set_phase("demo-worker-2", "Failed", 137);
    world.start_operator();
    world.settle();
    EXPECT_NE(world.uid("demo-worker-2"), old_uid);
    EXPECT_THAT(world.pods(), SizeIs(6));

    world.stop_operator();
    world.delete_pod("demo-worker-1");
    world.reap();
    world.set_phase("demo-master-0", "Succeeded", 0);
    world.start_operator();
    world.settle();
    EXPECT_THAT(summary(world.status("demo")),
                ElementsAre("Created", "Running=False", "Succeeded"));
    EXPECT_THAT(world.pods(), SizeIs(5)) << "nothing is made for a job that ended";
}

TEST_F(OperatorTest, AStatusThatSomebodyElseWroteIsReadAgain) {
    start_job({});
    bool raced = false;
    world.transport.before_write = [&](const kube::Request& request) {
        if (raced || !request.path.ends_with("/status")) return;
        raced = true;
        // Between the operator's look and its write: the job moves on.
        auto label = [](World& w) -> Task<void> {
            json::object patch{
                {"metadata", json::object{{"annotations", json::object{{"touched", "yes"}}}}}};
            auto done = co_await w.client.patch(pytorch().resource, "default", "demo",
                                                kube::ContentType::kMergePatch, std::move(patch));
            EXPECT_TRUE(done.has_value());
        };
        asio::co_spawn(world.context, label(world), [](std::exception_ptr) {});
    };
    world.transport.longest_delay = 1ms;
    world.set_phase("demo-master-0", "Succeeded", 0);
    world.settle();
    EXPECT_TRUE(raced);
    EXPECT_THAT(summary(world.status("demo")),
                ElementsAre("Created", "Running=False", "Succeeded"));
    const auto events = world.events("demo");
    EXPECT_EQ(std::ranges::count_if(
                  events, [](const std::string& e) { return e.starts_with("PyTorchJobSucc"); }),
              1);
}

TEST_F(OperatorTest, CleanPodPolicyAllDeletesPodsAndServices) {
    start_job({.clean = "All"});
    world.set_phase("demo-master-0", "Succeeded", 0);
    world.settle();
    world.reap();
    world.settle();
    EXPECT_THAT(world.pods(), IsEmpty());
    EXPECT_THAT(world.services(), IsEmpty());
    EXPECT_TRUE(world.status("demo").is("Succeeded"));
}

TEST_F(OperatorTest, ScaleUpAndDown) {
    start_job({.workers = 2});
    const auto set_workers = [&](int count) {
        world.scale_workers("demo", count);
        world.settle();
        world.reap();
        world.settle();
    };
    set_workers(4);
    EXPECT_THAT(world.pods(), SizeIs(5));
    set_workers(1);
    EXPECT_THAT(world.pods(), ElementsAre("demo-master-0", "demo-worker-0"));
    EXPECT_THAT(world.services(), ElementsAre("demo-master-0", "demo-worker-0"));
}

// pytorchjob_controller_test.go, suspend and resume.
TEST_F(OperatorTest, SuspendAndResume) {
    start_job({});
    const auto suspend = [&](bool on) {
        world.suspend_job("demo", on);
        world.settle();
        world.reap();
        world.settle();
    };
    suspend(true);
    EXPECT_THAT(world.pods(), IsEmpty());
    EXPECT_THAT(world.services(), IsEmpty());
    EXPECT_THAT(summary(world.status("demo")),
                ElementsAre("Created", "Running=False", "Suspended"));
    suspend(false);
    EXPECT_THAT(world.pods(), SizeIs(3));
    world.set_all("Running");
    world.settle();
    EXPECT_THAT(summary(world.status("demo")),
                ElementsAre("Created", "Suspended=False", "Running"));
}

// pytorchjob_controller_test.go, managedBy multikueue.
TEST_F(OperatorTest, AJobOfAnotherControllerIsNotTouched) {
    json::object object = job_object({});
    object["spec"].as_object()["runPolicy"].as_object()["managedBy"] = "kueue.x-k8s.io/multikueue";
    ASSERT_TRUE(world.wait(world.client.create(pytorch().resource, "default", std::move(object)))
                    .has_value());
    world.settle();
    EXPECT_THAT(world.pods(), IsEmpty());
    EXPECT_THAT(world.status("demo").conditions, IsEmpty());
    EXPECT_EQ(world.transport.writes, 0);
}

TEST_F(OperatorTest, WhatHasNoEffectIsToldOnce) {
    json::object object = job_object({});
    json::object& worker =
        object["spec"].as_object()["pytorchReplicaSpecs"].as_object()["Worker"].as_object();
    worker["template"].as_object()["spec"].as_object()["restartPolicy"] = "Never";
    ASSERT_TRUE(world.wait(world.client.create(pytorch().resource, "default", std::move(object)))
                    .has_value());
    world.settle();
    world.set_all("Running");
    world.settle();
    const auto events = world.events("demo");
    EXPECT_EQ(std::ranges::count_if(events,
                                    [](const std::string& event) {
                                        return event.starts_with("SetPodTemplateRestartPolicy:");
                                    }),
              1);
}

TEST_F(OperatorTest, AJobThatCantRunFailsWithTheFieldsNamed) {
    json::object object = job_object({});
    object["spec"]
        .as_object()["pytorchReplicaSpecs"]
        .as_object()["Worker"]
        .as_object()["template"] =
        json::object{{"spec", json::object{{"containers", json::array{json::object{
                                                              {"name", "other"},
                                                              {"image", "i"},
                                                          }}}}}};
    ASSERT_TRUE(world.wait(world.client.create(pytorch().resource, "default", std::move(object)))
                    .has_value());
    world.settle();
    EXPECT_THAT(world.pods(), IsEmpty());
    const jobs::JobStatus status = world.status("demo");
    EXPECT_THAT(summary(status), ElementsAre("Created", "Failed"));
    EXPECT_EQ(status.conditions[1].reason, "PyTorchJobFailedValidation");
    EXPECT_THAT(status.conditions[1].message,
                HasSubstr("spec.pytorchReplicaSpecs.Worker.template.spec.containers"));
    EXPECT_THAT(world.events("demo"), Contains(HasSubstr("PyTorchJobFailedValidation")));
}

TEST_F(OperatorTest, ADeletedJobAndAnotherOfItsNameDoNotMix) {
    start_job({});
    const std::string old_uid = world.uid("demo-worker-0");
    world.delete_job("demo");
    world.settle();
    world.create_job({.workers = 1});
    world.settle();
    // The old pods still end; the new job waits for their names.
    world.reap();
    world.run_for(2min);
    EXPECT_THAT(world.pods(), ElementsAre("demo-master-0", "demo-worker-0"));
    EXPECT_NE(world.uid("demo-worker-0"), old_uid);
    EXPECT_FALSE(world.status("demo").finished());
}

// Its owner's end is what makes a pod of a deleted job go; nothing may put one back.
TEST_F(OperatorTest, AJobThatIsBeingDeletedIsLeftAlone) {
    start_job({});
    world.hold_job("demo");
    world.delete_job("demo");
    world.settle();
    world.delete_pod("demo-worker-0");
    world.reap();
    world.settle();
    EXPECT_EQ(world.uid("demo-worker-0"), "");
}

TEST_F(OperatorTest, TwoJobsDoNotDisturbEachOther) {
    world.create_job({.name = "one"});
    world.create_job({.name = "two", .policy = "Never"});
    world.settle();
    world.set_all("Running");
    world.set_phase("two-worker-0", "Failed", 1);
    world.settle();
    EXPECT_THAT(summary(world.status("one")), ElementsAre("Created", "Running"));
    EXPECT_TRUE(world.status("two").is("Failed"));
    EXPECT_THAT(world.pods(), SizeIs(6));
}

}  // namespace
}  // namespace muster::operators::operator_test
