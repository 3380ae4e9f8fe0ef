#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/internal/world_fixture.h"

// A replica whose pods go as soon as they are made, for whatever reason.

namespace muster::operators::operator_pause_test {
namespace {

using namespace std::chrono_literals;

struct LoopRow {
    std::string name;
    std::string policy;
    void (*end)(World& world, const std::string& pod);
};

class EveryLoop : public ::testing::TestWithParam<LoopRow> {
  protected:
    EveryLoop() {
        world.start_operator();
        world.transport.before_write = [this](const kube::Request& request) {
            if (request.method == kube::Method::kPost && request.path.ends_with("/pods")) ++made;
        };
    }
    /// Ends each pod of worker 0 within a second.
    void run_seconds(int seconds) {
        for (int second = 0; second < seconds; ++second) {
            world.run_for(1s);
            const auto pod = world.object(kube::types::kPods, "demo-worker-0");
            if (!pod || world.uid("demo-worker-0") == last_) continue;
            last_ = world.uid("demo-worker-0");
            GetParam().end(world, "demo-worker-0");
        }
    }

    World world;
    int made = 0;

  private:
    std::string last_;
};

// 1,375 pods in 10 s, before there were pauses. Now the second comes at once, and the others after
// 10, 20, 40, 80, 160 and 300 s.
TEST_P(EveryLoop, MakesPodsAfterPausesThatGrow) {
    world.create_job({.masters = -1, .workers = 1, .policy = GetParam().policy});
    run_seconds(8);
    EXPECT_EQ(made, 2);
    run_seconds(20);
    EXPECT_EQ(made, 3);
    run_seconds(570);
    EXPECT_GE(made, 6);
    EXPECT_LE(made, 7);
    EXPECT_FALSE(world.status("demo").finished());
}

class LoopAcrossOperators : public EveryLoop {};

TEST_P(LoopAcrossOperators, KeepsItsPauses) {
    world.create_job({.masters = -1, .workers = 1, .policy = GetParam().policy});
    for (int operators = 0; operators < 60; ++operators) {
        run_seconds(5);
        world.restart_operator();
    }
    EXPECT_GE(made, 5);
    EXPECT_LE(made, 8);
}

// Someone takes it away as soon as it is there; the pod runs on.
TEST(PauseOfAService, GrowsAsThatOfAPod) {
    World world;
    world.start_operator();
    int made = 0;
    world.transport.before_write = [&](const kube::Request& request) {
        if (request.method == kube::Method::kPost && request.path.ends_with("/services")) ++made;
    };
    world.run_job({.masters = -1, .workers = 1});
    for (int second = 0; second < 600; ++second) {
        world.run_for(1s);
        if (world.object(kube::types::kServices, "demo-worker-0"))
            world.delete_service("demo-worker-0");
    }
    EXPECT_GE(made, 6);
    EXPECT_LE(made, 7);
    EXPECT_TRUE(world.status("demo").is("Running"));
}

struct OwnedRow {
    std::string name;
    bool restarts_operators;
    bool suspended;
};
class PauseOfAnOwnedObject : public ::testing::TestWithParam<OwnedRow> {};

// Someone takes the ConfigMap away as soon as it is there.
TEST_P(PauseOfAnOwnedObject, GrowsAsThatOfAPod) {
    World world;
    world.start_operator();
    int made = 0;
    int read = 0;
    world.transport.before_write = [&](const kube::Request& request) {
        if (request.method == kube::Method::kPost && request.path.ends_with("/configmaps")) ++made;
    };
    const jobs::JobKind& kind = *jobs::find_kind("kubeflow.org/v2beta1", "MPIJob");
    json::value job = json::parse(R"({"apiVersion": "kubeflow.org/v2beta1", "kind": "MPIJob",
        "metadata": {"name": "ring", "namespace": "default"}, "spec": {"mpiReplicaSpecs": {
        "Launcher": {"template": {"spec": {"containers": [{"name": "l", "image": "i"}]}}},
        "Worker": {"replicas": 1,
                   "template": {"spec": {"containers": [{"name": "w", "image": "i"}]}}}}}})");
    if (GetParam().suspended)
        job.at("spec").as_object()["runPolicy"] = json::object{{"suspend", true}};
    ASSERT_TRUE(world.wait(world.client.create(kind.resource, "default", job)).has_value());
    world.settle();
    for (int second = 0; second < 600; ++second) {
        world.run_for(1s);
        if (world.object(kube::types::kConfigMaps, "ring-config")) {
            ++read;
            ASSERT_TRUE(
                world.wait(world.client.remove(kube::types::kConfigMaps, "default", "ring-config"))
                    .has_value());
        }
        // Never in a pause, as then no object tells how many went.
        if (GetParam().restarts_operators && world.object(kube::types::kConfigMaps, "ring-config"))
            world.restart_operator();
    }
    EXPECT_GE(made, 6);
    EXPECT_LE(made, 7);
    EXPECT_LE(made - read, 1);
    EXPECT_THAT(world.events("ring"),
                ::testing::Contains(::testing::HasSubstr(
                    "DeletedAgain: ConfigMap ring-config was deleted soon after it was made, for "
                    "the 3. time in a row: it is made again after a pause of 20 s")));
}

INSTANTIATE_TEST_SUITE_P(Each, PauseOfAnOwnedObject,
                         ::testing::Values(OwnedRow{"OfARunningJob", false, false},
                                           OwnedRow{"AcrossOperators", true, false},
                                           OwnedRow{"OfASuspendedJob", false, true}),
                         [](const auto& info) { return info.param.name; });

struct ChangedRow {
    std::string name;
    bool resumed;  ///< in the middle
};
class PauseOfACorrection : public ::testing::TestWithParam<ChangedRow> {
  protected:
    PauseOfACorrection() {
        world.start_operator();
        world.transport.before_write = [this](const kube::Request& request) {
            if (request.method == kube::Method::kPut && request.path.ends_with("/ring-config"))
                ++corrected;
        };
        const json::value job = json::parse(R"({"apiVersion": "kubeflow.org/v2beta1",
            "kind": "MPIJob", "metadata": {"name": "ring", "namespace": "default"},
            "spec": {"mpiReplicaSpecs": {
            "Launcher": {"template": {"spec": {"containers": [{"name": "l", "image": "i"}]}}},
            "Worker": {"replicas": 1,
                       "template": {"spec": {"containers": [{"name": "w", "image": "i"}]}}}}}})");
        EXPECT_TRUE(world.wait(world.client.create(kind_.resource, "default", job)).has_value());
        world.settle();
    }
    std::string hosts() {
        return std::string(world.object(kube::types::kConfigMaps, "ring-config")
                               ->at("data")
                               .at("hostfile")
                               .as_string());
    }
    /// Another program that has its own opinion: true if it had to write it.
    bool change() {
        json::value config = *world.object(kube::types::kConfigMaps, "ring-config");
        json::value& said = config.at("data").as_object()["hostfile"];
        if (said == "elsewhere") return false;
        said = "elsewhere";
        const int before = corrected;  // that is no write of the operator's
        EXPECT_TRUE(world
                        .wait(world.client.update(kube::types::kConfigMaps, "default",
                                                  "ring-config", std::move(config)))
                        .has_value());
        corrected = before;
        return true;
    }
    void edit(const std::function<void(json::object& spec)>& change) {
        json::value job = *world.object(kind_.resource, "ring");
        change(job.at("spec").as_object());
        EXPECT_TRUE(
            world.wait(world.client.update(kind_.resource, "default", "ring", std::move(job)))
                .has_value());
        world.run_for(1s);
    }
    void resize(int workers) {
        edit([workers](json::object& spec) {
            spec["mpiReplicaSpecs"].at("Worker").as_object()["replicas"] = workers;
        });
    }
    void suspend(bool suspend) {
        edit([suspend](json::object& spec) {
            spec["runPolicy"] = json::object{{"suspend", suspend}};
        });
    }

    World world;
    int corrected = 0;

  private:
    const jobs::JobKind& kind_ = *jobs::find_kind("kubeflow.org/v2beta1", "MPIJob");
};

// Two programs that correct each other did so as fast as they could.
TEST_P(PauseOfACorrection, GrowsAsThatOfADeletion) {
    for (int second = 0; second < 600; ++second) {
        world.run_for(1s);
        change();
        if (GetParam().resumed && second == 300) {
            suspend(true);
            suspend(false);
        }
    }
    EXPECT_GE(corrected, GetParam().resumed ? 9 : 7);
    EXPECT_LE(corrected, GetParam().resumed ? 14 : 8);
    EXPECT_THAT(world.events("ring"),
                ::testing::Contains(::testing::HasSubstr(
                    "ConfigMap ring-config was changed soon after it was corrected, "
                    "for the 3. time in a row: it is corrected again after a pause of 20 s")));
}

INSTANTIATE_TEST_SUITE_P(Each, PauseOfACorrection,
                         ::testing::Values(ChangedRow{"OfARunningJob", false},
                                           ChangedRow{"OfOneThatIsResumed", true}),
                         [](const auto& info) { return info.param.name; });

using WhatTheJobWants = PauseOfACorrection;

TEST_P(WhatTheJobWants, IsWrittenAtOnce) {
    for (int workers = 2; workers < 12; ++workers) {
        resize(workers);
        EXPECT_THAT(hosts(), ::testing::HasSubstr(fmt::format("ring-worker-{}.", workers - 1)));
    }
    // Nor does a pause of what another program does to it count.
    for (int time = 0; time < 4; ++time) {
        change();
        world.run_for(1s);
    }
    EXPECT_EQ(hosts(), "elsewhere");
    resize(3);
    EXPECT_THAT(hosts(), ::testing::HasSubstr("ring-worker-2."));
}

INSTANTIATE_TEST_SUITE_P(Each, WhatTheJobWants,
                         ::testing::Values(ChangedRow{"OfARunningJob", false}),
                         [](const auto& info) { return info.param.name; });

void kill(World& world, const std::string& pod) { world.set_phase(pod, "Failed", 137); }
void fail(World& world, const std::string& pod) { world.set_phase(pod, "Failed", 1); }
void evict(World& world, const std::string& pod) { world.set_phase(pod, "Failed"); }
void take_away(World& world, const std::string& pod) { world.force_delete_pod(pod); }
void take_away_running(World& world, const std::string& pod) {
    world.set_phase(pod, "Running");
    world.run_for(100ms);
    world.force_delete_pod(pod);
}
void fail_and_clean(World& world, const std::string& pod) {
    world.set_phase(pod, "Running");
    world.run_for(100ms);
    world.set_phase(pod, "Failed", 137);
    world.run_for(100ms);
    if (world.object(kube::types::kPods, pod)) world.force_delete_pod(pod);
}

const auto kToldByTheApi =
    ::testing::Values(LoopRow{"KilledUnderExitCode", "ExitCode", kill},
                      LoopRow{"EvictedUnderExitCode", "ExitCode", evict},
                      LoopRow{"FailedUnderOnFailure", "OnFailure", fail},
                      LoopRow{"EvictedUnderAlways", "Always", evict},
                      LoopRow{"TakenAwayUnderNever", "Never", take_away_running},
                      LoopRow{"FailedAndCleanedUp", "ExitCode", fail_and_clean});
const auto name_of = [](const auto& info) { return info.param.name; };

INSTANTIATE_TEST_SUITE_P(Each, EveryLoop, kToldByTheApi, name_of);
// Such a pod leaves nothing behind.
INSTANTIATE_TEST_SUITE_P(Unseen, EveryLoop,
                         ::testing::Values(LoopRow{"TakenAwayBeforeItRan", "Never", take_away}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Each, LoopAcrossOperators, kToldByTheApi, name_of);

}  // namespace
}  // namespace muster::operators::operator_pause_test
