#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "kube/objects/codec.h"
#include "kube/values/json_access.h"
#include "operator/internal/world_fixture.h"

// A kind with owned objects and an order of start, through the embedded API.

namespace muster::operators::operator_mpi_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using namespace std::chrono_literals;

const kube::ResourceType kRoles{"rbac.authorization.k8s.io", "v1", "roles", "Role"};
const kube::ResourceType kRoleBindings{"rbac.authorization.k8s.io", "v1", "rolebindings",
                                       "RoleBinding"};

json::object mpi_object(std::string_view version, int workers = 2) {
    json::object job = json::parse(R"({
        "kind": "MPIJob", "metadata": {"name": "ring"},
        "spec": {"slotsPerWorker": 2, "runPolicy": {}, "mpiReplicaSpecs": {
            "Launcher": {"template": {"spec": {"containers": [
                {"name": "mpi", "image": "x", "command": ["mpirun", "./ring"]}]}}},
            "Worker": {"template": {"spec": {"containers": [
                {"name": "mpi", "image": "x"}]}}}}}})")
                           .as_object();
    job["apiVersion"] = fmt::format("kubeflow.org/{}", version);
    job["spec"].at_pointer("/mpiReplicaSpecs/Worker").as_object()["replicas"] = workers;
    return job;
}

/// The job "ring" in one version.
class Ring {
  public:
    explicit Ring(std::string version) : version_(std::move(version)) {}

    const jobs::JobKind& kind() { return *jobs::find_kind("kubeflow.org/" + version_, "MPIJob"); }
    void create(int workers = 2) { create(mpi_object(version_, workers)); }
    void create(json::object job) {
        auto made = w.wait(w.client.create(kind().resource, "default", std::move(job)));
        ASSERT_TRUE(made.has_value()) << made.error().message();
        w.settle();
    }
    void edit(const std::function<void(json::object& spec)>& change) {
        auto job = w.object(kind().resource, "ring");
        ASSERT_TRUE(job.has_value());
        change(job->at("spec").as_object());
        auto updated = w.wait(w.client.update(kind().resource, "default", "ring", *job));
        ASSERT_TRUE(updated.has_value()) << updated.error().message();
        w.settle();
    }
    void run(const std::string& pod, bool ready = true) {
        w.set_phase(pod, "Running");
        auto found = w.object(kube::types::kPods, pod);
        json::object& status = found->at("status").as_object();
        status["podIP"] = "10.0.0.9";
        status["conditions"] =
            json::array{json::object{{"type", "Ready"}, {"status", ready ? "True" : "False"}}};
        auto updated =
            w.wait(w.client.update(kube::types::kPods, "default", pod, *found, "status"));
        ASSERT_TRUE(updated.has_value()) << updated.error().message();
        w.settle();
    }
    json::value config() {
        auto found = w.object(kube::types::kConfigMaps, "ring-config");
        return found ? found->at("data") : json::value();
    }
    std::string hosts() {
        const json::value all = config();
        return all.is_null() ? "" : std::string(all.at("discover_hosts.sh").as_string());
    }
    /// Both workers and the launcher.
    void run_all() {
        for (const char* pod : {"ring-worker-0", "ring-worker-1", "ring-launcher"}) run(pod);
    }
    /// As its pod says; "" for the first.
    std::string generation(const std::string& pod) {
        return w.annotation(pod, "muster.dev/generation");
    }
    std::vector<std::string> conditions() {
        jobs::JobStatus status;
        std::vector<Cause> problems;
        kube::decode_into(w.object(kind().resource, "ring")->at("status"), status, "status",
                          problems);
        return summary(status);
    }

    World w;

  private:
    std::string version_;
};

class MpiWorld : public Ring, public ::testing::TestWithParam<std::string> {
  protected:
    MpiWorld() : Ring(GetParam()) {}
};

/// A world whose nodes have this program.
class MpiWorldWithOurShell : public ::testing::TestWithParam<std::string> {};

TEST_P(MpiWorldWithOurShell, WorkersWithoutACommandServeOurRemoteShell) {
    World w(1, {.namespace_ = {}, .platform = {.node_program = "/usr/bin/muster"}});
    const kube::ResourceType& resource =
        jobs::find_kind("kubeflow.org/" + GetParam(), "MPIJob")->resource;
    w.start_operator();
    auto made = w.wait(w.client.create(resource, "default", mpi_object(GetParam())));
    ASSERT_TRUE(made.has_value()) << made.error().message();
    w.settle();
    EXPECT_TRUE(w.object(kube::types::kSecrets, "ring-rsh").has_value());
    EXPECT_TRUE(w.object(kube::types::kServices, "ring").has_value());
    const auto pod = w.object(kube::types::kPods, "ring-worker-1");
    ASSERT_TRUE(pod.has_value());
    EXPECT_EQ(std::string(pod->at("spec").at("containers").at(0).at("command").at(1).as_string()),
              "rsh");
}

INSTANTIATE_TEST_SUITE_P(Versions, MpiWorldWithOurShell, ::testing::Values("v1", "v2beta1"));

TEST_P(MpiWorld, TheLauncherStartsWhenTheWorkersAreReady) {
    w.start_operator();
    create();
    EXPECT_THAT(w.pods(), ElementsAre("ring-worker-0", "ring-worker-1"));
    run("ring-worker-0");
    run("ring-worker-1", false);
    EXPECT_THAT(w.pods(), Not(Contains("ring-launcher")));
    run("ring-worker-1");
    EXPECT_THAT(w.pods(), Contains("ring-launcher"));
    EXPECT_THAT(hosts(), HasSubstr("ring-worker-1")) << "before the launcher, who reads it";

    run("ring-launcher");
    EXPECT_THAT(conditions(), ElementsAre("Created", "Running"));
    w.set_phase("ring-launcher", "Succeeded", 0);
    w.settle();
    EXPECT_THAT(conditions(), ElementsAre("Created", "Running=False", "Succeeded"));
    const auto pod = w.object(kube::types::kPods, "ring-launcher");
    EXPECT_EQ(
        std::string(pod->at("metadata").at("ownerReferences").at(0).at("apiVersion").as_string()),
        "kubeflow.org/" + GetParam());
}

TEST_P(MpiWorld, TheLauncherOfOneThatIsToldSoStartsAtOnce) {
    w.start_operator();
    json::object job = mpi_object(GetParam());
    job["spec"].as_object()["launcherCreationPolicy"] = "AtStartup";
    ASSERT_TRUE(w.wait(w.client.create(kind().resource, "default", std::move(job))).has_value());
    w.settle();
    EXPECT_THAT(w.pods(), ElementsAre("ring-launcher", "ring-worker-0", "ring-worker-1"));
}

TEST_P(MpiWorld, ResumedItStartsOverInOrder) {
    w.start_operator();
    create();
    run_all();
    edit([](json::object& spec) { spec["runPolicy"].as_object()["suspend"] = true; });
    w.reap();
    w.settle();
    EXPECT_THAT(w.pods(), IsEmpty());
    EXPECT_FALSE(config().is_null());
    EXPECT_THAT(hosts(), Not(HasSubstr("ring-worker"))) << "none runs";
    edit([](json::object& spec) { spec["runPolicy"].as_object()["suspend"] = false; });
    EXPECT_THAT(w.pods(), ElementsAre("ring-worker-0", "ring-worker-1"));
    for (const char* pod : {"ring-worker-0", "ring-worker-1"}) run(pod);
    EXPECT_THAT(w.pods(), Contains("ring-launcher"));
}

TEST_P(MpiWorld, AWorkerThatVanishesBeginsANewGeneration) {
    w.start_operator();
    create();
    run_all();
    w.delete_pod("ring-worker-1");
    w.settle();
    w.reap();
    w.run_for(1s);
    EXPECT_THAT(w.pods(), ElementsAre("ring-worker-0", "ring-worker-1"))
        << "the launcher waits for the new workers";
    for (const char* pod : {"ring-worker-0", "ring-worker-1"}) {
        EXPECT_EQ(generation(pod), "1") << pod;
        run(pod);
    }
    EXPECT_EQ(generation("ring-launcher"), "1");
    EXPECT_THAT(conditions(), ElementsAre("Created", "Restarting"));
}

TEST_P(MpiWorld, AJobMayAskForOneReplicaAlone) {
    json::object job = mpi_object(GetParam());
    job["metadata"].as_object()["annotations"] = {{"muster.dev/restart", "replica"}};
    w.start_operator();
    create(std::move(job));
    run_all();
    w.delete_pod("ring-worker-1");
    w.settle();
    w.reap();
    w.run_for(1s);
    EXPECT_THAT(w.pods(), ElementsAre("ring-launcher", "ring-worker-0", "ring-worker-1"));
    EXPECT_EQ(generation("ring-worker-1"), "");
}

TEST_P(MpiWorld, TheListsFollowTheWorkers) {
    w.start_operator();
    create();
    run_all();
    edit([](json::object& spec) {
        spec["mpiReplicaSpecs"].at("Worker").as_object()["replicas"] = 3;
    });
    EXPECT_THAT(std::string(config().at("hostfile").as_string()), HasSubstr("ring-worker-2"));
    EXPECT_THAT(hosts(), Not(HasSubstr("ring-worker-2"))) << "it does not run yet";
    run("ring-worker-2");
    EXPECT_THAT(hosts(), HasSubstr("ring-worker-2"));
    edit([](json::object& spec) {
        spec["mpiReplicaSpecs"].at("Worker").as_object()["replicas"] = 1;
    });
    EXPECT_THAT(hosts(), Not(HasSubstr("ring-worker-1")));
    EXPECT_THAT(std::string(config().at("hostfile").as_string()), Not(HasSubstr("ring-worker-1")));
}

// "pods are sorted by name" of mpi-operator's TestUpdateDiscoverHostsInConfigMap.
TEST_P(MpiWorld, TheHostsAreInTheOrderOfTheWorkers) {
    w.start_operator();
    create();
    run("ring-worker-1");
    run("ring-worker-0");
    const std::size_t first = hosts().find("ring-worker-0");
    const std::size_t second = hosts().find("ring-worker-1");
    ASSERT_NE(first, std::string::npos);
    ASSERT_NE(second, std::string::npos);
    EXPECT_LT(first, second);
}

TEST_P(MpiWorld, WhatIsTakenAwayOrChangedComesBack) {
    w.start_operator();
    create();
    const json::value before = config();
    auto changed = w.object(kube::types::kConfigMaps, "ring-config");
    changed->as_object()["data"] = json::object{{"hostfile", "elsewhere"}};
    ASSERT_TRUE(w.wait(w.client.update(kube::types::kConfigMaps, "default", "ring-config",
                                       *std::move(changed)))
                    .has_value());
    w.settle();
    EXPECT_EQ(config(), before);
    ASSERT_TRUE(
        w.wait(w.client.remove(kube::types::kConfigMaps, "default", "ring-config")).has_value());
    w.settle();
    EXPECT_EQ(config(), before);
}

TEST_P(MpiWorld, AForeignObjectIsNotTouchedAndTold) {
    ASSERT_TRUE(w.wait(w.client.create(kube::types::kConfigMaps, "default",
                                       json::object{{"apiVersion", "v1"},
                                                    {"kind", "ConfigMap"},
                                                    {"metadata", {{"name", "ring-config"}}},
                                                    {"data", {{"mine", "1"}}}}))
                    .has_value());
    w.start_operator();
    create();
    w.run_for(2s);
    EXPECT_THAT(w.pods(), IsEmpty());
    EXPECT_EQ(config(), (json::object{{"mine", "1"}}));
    EXPECT_THAT(conditions(), ElementsAre("Created", "Blocked"));
    EXPECT_THAT(
        w.events("ring"),
        Contains(HasSubstr("ConfigMap default/ring-config already exists and has no owner")));
    ASSERT_TRUE(
        w.wait(w.client.remove(kube::types::kConfigMaps, "default", "ring-config")).has_value());
    w.run_for(30s);
    EXPECT_THAT(w.pods(), ElementsAre("ring-worker-0", "ring-worker-1"));
    EXPECT_THAT(conditions(), ElementsAre("Created"));
}

TEST_P(MpiWorld, OfSeveralForeignObjectsTheSameIsNamedEachTime) {
    const bool v1 = GetParam() == "v1";
    const kube::ResourceType other = v1 ? kRoles : kube::types::kSecrets;
    const std::string name = v1 ? "ring-launcher" : "ring-ssh";
    for (const auto& [type, foreign] :
         {std::pair(kube::types::kConfigMaps, std::string("ring-config")),
          std::pair(other, name)}) {
        json::object object{{"apiVersion", type.api_version()},
                            {"kind", type.kind},
                            {"metadata", {{"name", foreign}}}};
        ASSERT_TRUE(w.wait(w.client.create(type, "default", std::move(object))).has_value());
    }
    w.start_operator();
    create();
    const auto told = [&] {
        return w.object(kind().resource, "ring")->at_pointer("/status/conditions/1/message");
    };
    w.run_for(2s);
    const json::value first = told();
    EXPECT_THAT(std::string(first.as_string()), HasSubstr("ring-config"));
    for (int i = 0; i < 20; ++i) {
        w.run_for(1s);
        EXPECT_EQ(told(), first);
    }
    ASSERT_TRUE(
        w.wait(w.client.remove(kube::types::kConfigMaps, "default", "ring-config")).has_value());
    w.run_for(300s);
    EXPECT_THAT(std::string(told().as_string()), HasSubstr(name));
    EXPECT_FALSE(config().is_null()) << "one that is in the way keeps no other back";
    EXPECT_THAT(w.pods(), IsEmpty());
    ASSERT_TRUE(w.wait(w.client.remove(other, "default", name)).has_value());
    w.run_for(300s);
    EXPECT_THAT(w.pods(), ElementsAre("ring-worker-0", "ring-worker-1"));
}

TEST_P(MpiWorld, AnotherOperatorGoesOnAndWritesNothing) {
    w.start_operator();
    create();
    run_all();
    w.run_for(1s);
    const int before = w.transport.writes;
    w.restart_operator();
    w.run_for(1s);
    EXPECT_EQ(w.transport.writes, before);
}

TEST_P(MpiWorld, ADeletedJobTakesEverythingAlong) {
    w.start_operator();
    create();
    ASSERT_TRUE(w.wait(w.client.remove(kind().resource, "default", "ring")).has_value());
    w.settle();
    w.reap();
    w.run_for(5s);
    EXPECT_THAT(w.pods(), IsEmpty());
    EXPECT_TRUE(config().is_null());
}

INSTANTIATE_TEST_SUITE_P(Versions, MpiWorld, ::testing::Values("v1", "v2beta1"));

TEST(MpiVersions, EachFollowsTheConventionsThatItWasWrittenIn) {
    World w;
    w.start_operator();
    for (const char* version : {"v1", "v1alpha2", "v2beta1"}) {
        json::object job = mpi_object(version, 1);
        job["metadata"].as_object()["name"] = version;
        const jobs::JobKind& kind =
            *jobs::find_kind(fmt::format("kubeflow.org/{}", version), "MPIJob");
        auto made = w.wait(w.client.create(kind.resource, "default", std::move(job)));
        ASSERT_TRUE(made.has_value()) << made.error().message();
    }
    w.settle();
    const auto by = [&](const std::string& pod) {
        return std::string(w.object(kube::types::kPods, pod)
                               ->at_pointer("/metadata/labels/training.kubeflow.org~1operator-name")
                               .as_string());
    };
    EXPECT_EQ(by("v1-worker-0"), "mpijob-controller");
    EXPECT_EQ(by("v1alpha2-worker-0"), "mpijob-controller");
    EXPECT_EQ(by("v2beta1-worker-0"), "mpi-operator");
    EXPECT_TRUE(w.object(kRoles, "v1-launcher").has_value());
    EXPECT_TRUE(w.object(kRoleBindings, "v1alpha2-launcher").has_value());
    EXPECT_TRUE(w.object(kube::types::kServiceAccounts, "v1-launcher").has_value());
    EXPECT_FALSE(w.object(kRoles, "v2beta1-launcher").has_value());
    EXPECT_TRUE(w.object(kube::types::kSecrets, "v2beta1-ssh").has_value());
    EXPECT_FALSE(w.object(kube::types::kSecrets, "v1-ssh").has_value());
    EXPECT_THAT(w.services(), ElementsAre("v2beta1"));
}

// A batch Job, which v2beta1 has for its launcher, makes failed pods of the policy Never again.
TEST(MpiVersions, FailedPodsAreReplacedWithinTheBudgetOrEndTheJob) {
    struct Case {
        const char* version;
        int limit;  ///< below zero: none is written
        std::vector<std::string> pods;
        std::vector<std::string> conditions;
    };
    const std::vector<std::string> both{"ring-worker-0", "ring-worker-1"};
    const std::vector<std::string> all{"ring-launcher", "ring-worker-0", "ring-worker-1"};
    for (const Case& row : std::vector<Case>{
             {"v2beta1", -1, both, {"Created", "Restarting"}},
             {"v2beta1", 2, both, {"Created", "Restarting"}},
             {"v2beta1", 1, {"ring-worker-1"}, {"Created", "Running=False", "Failed"}},
             {"v1", -1, all, {"Created", "Running=False", "Failed"}},
         }) {
        SCOPED_TRACE(fmt::format("{} {}", row.version, row.limit));
        Ring ring(row.version);
        World& w = ring.w;
        w.start_operator();
        json::object job = mpi_object(row.version);
        if (row.limit >= 0)
            job["spec"].at_pointer("/runPolicy").as_object()["backoffLimit"] = row.limit;
        ring.create(std::move(job));
        ring.run_all();
        w.set_phase("ring-worker-1", "Failed", 1);
        w.settle();
        w.reap();
        w.run_for(1s);
        EXPECT_THAT(w.pods(), ElementsAreArray(row.pods));
        EXPECT_THAT(ring.conditions(), ElementsAreArray(row.conditions));
    }
}

// Within the default limit, a launcher that fails at once was made again six times in a second.
TEST(MpiVersions, ALauncherThatFailsAgainPausesAsThoseOfABatchJobDo) {
    Ring ring("v2beta1");
    World& w = ring.w;
    w.start_operator();
    json::object job = mpi_object("v2beta1");
    job["spec"].at_pointer("/mpiReplicaSpecs/Launcher").as_object()["restartPolicy"] = "Never";
    ring.create(std::move(job));
    ring.run_all();
    const auto fail = [&] {
        const std::string uid = w.uid("ring-launcher");
        w.set_phase("ring-launcher", "Failed", 1);
        w.settle();
        return uid;
    };
    EXPECT_NE(fail(), w.uid("ring-launcher")) << "the first time at once";
    const std::string second = fail();
    w.run_for(8s);
    EXPECT_EQ(w.uid("ring-launcher"), second);
    w.run_for(2s);
    EXPECT_NE(w.uid("ring-launcher"), second);
}

// Upstream: "should succeed when explicitly managed by mpi-operator".
TEST(MpiVersions, WhatIsTheMpiOperatorsIsDoneHere) {
    for (const auto& [controller, pods] : std::map<std::string, std::size_t>{
             {"kubeflow.org/mpi-operator", 2}, {"kueue.x-k8s.io/multikueue", 0}}) {
        Ring ring("v2beta1");
        ring.w.start_operator();
        json::object job = mpi_object("v2beta1");
        job["spec"].at_pointer("/runPolicy").as_object()["managedBy"] = controller;
        ring.create(std::move(job));
        EXPECT_EQ(ring.w.pods().size(), pods) << controller;
    }
}

TEST(MpiVersions, AKeyIsMadeOnce) {
    World w;
    w.start_operator();
    const jobs::JobKind& kind = *jobs::find_kind("kubeflow.org/v2beta1", "MPIJob");
    ASSERT_TRUE(
        w.wait(w.client.create(kind.resource, "default", mpi_object("v2beta1"))).has_value());
    w.settle();
    const auto key = w.object(kube::types::kSecrets, "ring-ssh");
    ASSERT_TRUE(key.has_value());
    auto job = w.object(kind.resource, "ring");
    job->at_pointer("/spec/mpiReplicaSpecs/Worker").as_object()["replicas"] = 3;
    ASSERT_TRUE(w.wait(w.client.update(kind.resource, "default", "ring", *job)).has_value());
    w.settle();
    w.restart_operator();
    w.settle();
    EXPECT_EQ(*w.object(kube::types::kSecrets, "ring-ssh"), *key);
}

}  // namespace
}  // namespace muster::operators::operator_mpi_test
