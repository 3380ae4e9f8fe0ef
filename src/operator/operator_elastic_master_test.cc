#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <map>

#include "base/test_seeds.h"
#include "operator/internal/world_fixture.h"

// What the master of an ElasticJob needs to keep its record in the API, through the embedded API.

namespace muster::operators::operator_elastic_master_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using namespace std::chrono_literals;

constexpr const char* kName = "elasticjob-demo-dlrover-master";
const kube::ResourceType kRoles{"rbac.authorization.k8s.io", "v1", "roles", "Role"};
const kube::ResourceType kRoleBindings{"rbac.authorization.k8s.io", "v1", "rolebindings",
                                       "RoleBinding"};

std::vector<kube::ResourceType> owned() {
    return {kube::types::kServiceAccounts, kRoles, kRoleBindings, kube::types::kConfigMaps};
}

/// The job "demo" of a master and two workers.
class ElasticWorld : public World {
  public:
    explicit ElasticWorld(std::uint64_t seed = 1)
        : World(seed, {.namespace_ = {},
                       .platform = {.program_image = "muster:1", .pods_reach_api = true}}) {}

    void create(bool group = false) {
        json::value job = json::parse(R"({
            "apiVersion": "elastic.iml.github.io/v1alpha1", "kind": "ElasticJob",
            "metadata": {"name": "demo"}, "spec": {"replicaSpecs": {"worker": {
                "replicas": 2, "template": {"spec": {"containers": [
                    {"name": "main", "image": "x", "command": ["dlrover-run", "x.py"]}]}}}}}})");
        if (group)
            job.at("metadata").as_object()["annotations"] = {{"muster.dev/restart", "group"}};
        const auto made = wait(client.create(elasticjob().resource, "default", std::move(job)));
        ASSERT_TRUE(made.has_value()) << made.error().message();
        settle();
    }
    jobs::JobStatus job_status() {
        const json::value job = object(elasticjob().resource, "demo").value_or(json::value());
        return jobs::read_status(elasticjob(), job.at("status"));
    }
    /// As the master does it, and everything that the object has then.
    json::value write_record(std::string text) {
        const auto written = wait(client.patch(
            kube::types::kConfigMaps, "default", kName, kube::ContentType::kMergePatch,
            {{"binaryData", {{"record", std::move(text)}}}, {"data", {{"epoch", "7"}}}}));
        EXPECT_TRUE(written.has_value());
        settle();
        return record();
    }
    json::value record() { return object(kube::types::kConfigMaps, kName).value_or(json::value()); }
    void patch(const kube::ResourceType& type, json::value change) {
        const auto patched = wait(client.patch(type, "default", kName,
                                               kube::ContentType::kMergePatch, std::move(change)));
        EXPECT_TRUE(patched.has_value()) << patched.error().message();
        settle();
    }
    /// The kinds of what is there for the master's record.
    std::vector<std::string> there() {
        std::vector<std::string> kinds;
        for (const kube::ResourceType& type : owned())
            if (object(type, kName)) kinds.push_back(type.kind);
        return kinds;
    }
    static const jobs::JobKind& elasticjob() {
        return *jobs::find_kind("elastic.iml.github.io/v1alpha1", "ElasticJob");
    }
};

TEST(ElasticMaster, ItsObjectsAreMadeBeforeItsPodAndTheBindingAfterTheRole) {
    ElasticWorld w;
    w.transport.longest_delay = 20ms;
    std::map<std::string, Instant> at;
    w.transport.before_write = [&](const kube::Request& request) {
        at.try_emplace(request.path.substr(request.path.rfind('/') + 1), w.clock.now());
    };
    w.start_operator();
    w.create();
    w.settle();
    EXPECT_LT(at.at("roles"), at.at("rolebindings")) << "a server looks into the Role";
    for (const char* one : {"serviceaccounts", "rolebindings", "configmaps"})
        EXPECT_LT(at.at(one), at.at("pods")) << one;
    EXPECT_THAT(w.there(), SizeIs(4));
    EXPECT_THAT(w.pods(), SizeIs(3));
    EXPECT_THAT(w.events("demo"), Not(Contains(HasSubstr("Failed"))));
    const auto of = [&](const char* pod) {
        const json::value made = w.object(kube::types::kPods, pod).value();
        const json::value* name = made.at("spec").as_object().if_contains("serviceAccountName");
        return name == nullptr ? std::string() : std::string(name->as_string());
    };
    EXPECT_EQ(of("elasticjob-demo-dlrover-master-0"), kName);
    EXPECT_NE(of("demo-edljob-worker-0"), kName);
    const json::value record = w.record();
    EXPECT_FALSE(record.as_object().contains("data"));
    EXPECT_FALSE(record.as_object().contains("binaryData"));
    EXPECT_EQ(record.at_pointer("/metadata/ownerReferences/0/kind"), "ElasticJob");
}

TEST(ElasticMaster, WhatItWroteStays) {
    ElasticWorld w;
    w.start_operator();
    w.create();
    w.set_all("Running");
    w.settle();
    const int before = w.transport.writes;
    const json::value written = w.write_record("AAAA");
    w.restart_operator();
    w.run_for(60s);
    EXPECT_EQ(w.record(), written);
    EXPECT_EQ(w.transport.writes, before) << "a record of the master is no work of the operator";

    // An object without the label is in no cache: the operator corrects what it reads.
    w.patch(kube::types::kConfigMaps,
            {{"metadata", {{"labels", {{"training.kubeflow.org/job-name", nullptr}}}}}});
    w.run_for(60s);
    const json::value labelled = w.record();
    EXPECT_EQ(labelled.at_pointer("/metadata/labels/training.kubeflow.org~1job-name"), "demo");
    EXPECT_EQ(labelled.at("data"), written.at("data"));
    EXPECT_EQ(labelled.at("binaryData"), written.at("binaryData"));
}

TEST(ElasticMaster, WhoTakesItsRightsAwayOrGivesItMoreChangesNothing) {
    ElasticWorld w;
    w.start_operator();
    w.create();
    const auto rules = w.object(kRoles, kName)->at("rules");
    const auto subjects = w.object(kRoleBindings, kName)->at("subjects");
    w.patch(kRoles, {{"rules", json::array{json::object{{"apiGroups", json::array{""}},
                                                        {"resources", json::array{"secrets"}},
                                                        {"verbs", json::array{"get"}}}}}});
    w.patch(kRoleBindings, {{"subjects", json::array()}});
    w.run_for(60s);
    EXPECT_EQ(w.object(kRoles, kName)->at("rules"), rules);
    EXPECT_EQ(w.object(kRoleBindings, kName)->at("subjects"), subjects);
    for (const kube::ResourceType& type : owned())
        ASSERT_TRUE(w.wait(w.client.remove(type, "default", kName)).has_value()) << type.kind;
    w.run_for(60s);
    EXPECT_THAT(w.there(), SizeIs(4)) << "and the master that lives writes its record again";
}

TEST(ElasticMaster, ARecordOfSomeoneElseIsNotUsed) {
    ElasticWorld w;
    json::value theirs = json::parse(R"({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "elasticjob-demo-dlrover-master"}, "data": {"epoch": "9"}})");
    ASSERT_TRUE(w.wait(w.client.create(kube::types::kConfigMaps, "default", theirs)).has_value());
    const json::value before = w.record();
    w.start_operator();
    w.create();
    w.run_for(5s);
    EXPECT_THAT(w.pods(), IsEmpty());
    EXPECT_EQ(w.record(), before);
    EXPECT_THAT(w.events("demo"),
                Contains(HasSubstr("ConfigMap default/elasticjob-demo-dlrover-master already "
                                   "exists and has no owner")));
}

/// A job whose pods restart together, and what ends in it.
class ElasticGroup : public ::testing::Test {
  protected:
    ElasticGroup() {
        world.start_operator();
        world.create(true);
        run();
    }
    void run() {
        world.reap();
        world.run_for(6min);  // the longest pause
        world.set_all("Running");
        world.settle();
    }
    std::int32_t generation() { return world.job_status().restart_generation.value_or(0); }

    ElasticWorld world;
    const std::string kMaster = std::string(kName) + "-0";
};

TEST_F(ElasticGroup, OutlivesADeathOfItsMaster) {
    int deaths = 0;
    for (const int exit_code : {137, 143, 3, 2}) {
        world.set_phase(fmt::format("{}-{}", kName, deaths++), "Failed", exit_code);
        world.settle();
        run();
        EXPECT_EQ(generation(), 0) << "no worker is disturbed";
        EXPECT_THAT(world.pods(), SizeIs(3));
        EXPECT_THAT(summary(world.job_status()), ElementsAre("Created", "Running"));
    }
}

// Its agents learn the end from the master, and each of them may be seen to end first.
TEST_F(ElasticGroup, RestartsForAFailureThatTheMasterTellsUntilTheCountIsUsedUp) {
    for (std::int32_t restarts = 1; restarts <= 3; ++restarts) {
        world.set_phase(restarts == 2 ? "demo-edljob-worker-1" : kMaster, "Failed", 1);
        world.settle();
        EXPECT_EQ(generation(), restarts);
        EXPECT_FALSE(world.job_status().finished());
        run();
    }
    world.set_phase(kMaster, "Failed", 1);
    world.settle();
    EXPECT_TRUE(world.job_status().is("Failed")) << "restartCount is 3";
}

TEST(ElasticMaster, ItsObjectsGoWithTheJob) {
    ElasticWorld w;
    w.start_operator();
    w.create();
    ASSERT_THAT(w.there(), SizeIs(4));
    ASSERT_TRUE(w.wait(w.client.remove(ElasticWorld::elasticjob().resource, "default", "demo"))
                    .has_value());
    w.settle();
    w.reap();
    w.run_for(5s);
    EXPECT_THAT(w.there(), IsEmpty());
}

// The record is there before the pods, as for an ElasticJob, and the status is Kubeflow's.
TEST(ElasticMaster, APyTorchJobWithAgentsHasOneBesideIt) {
    constexpr const char* kObjects = "torch-elasticmaster";
    ElasticWorld w;
    w.transport.longest_delay = 20ms;
    std::map<std::string, Instant> at;
    w.transport.before_write = [&](const kube::Request& request) {
        at.try_emplace(request.path.substr(request.path.rfind('/') + 1), w.clock.now());
    };
    w.start_operator();
    const jobs::JobKind& torch = *jobs::find_kind("kubeflow.org/v1", "PyTorchJob");
    json::value job = json::parse(R"({
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
        "metadata": {"name": "torch", "annotations": {"muster.dev/elastic": "true"}},
        "spec": {"runPolicy": {"backoffLimit": 1}, "pytorchReplicaSpecs": {"Worker": {
            "replicas": 2, "template": {"spec": {"containers": [
                {"name": "pytorch", "image": "x", "command": ["torchrun", "x.py"]}]}}}}}})");
    ASSERT_TRUE(w.wait(w.client.create(torch.resource, "default", std::move(job))).has_value());
    w.run_for(1s);
    for (const kube::ResourceType& type : owned()) {
        EXPECT_TRUE(w.object(type, kObjects)) << type.kind;
        EXPECT_LT(at.at(type.plural), at.at("pods")) << type.kind;
    }
    EXPECT_THAT(w.pods(), testing::UnorderedElementsAre("torch-elasticmaster-0", "torch-worker-0",
                                                        "torch-worker-1"));
    EXPECT_THAT(w.services(), Contains("torch-elasticmaster-0"));
    EXPECT_EQ(w.object(kube::types::kPods, "torch-elasticmaster-0")
                  ->at_pointer("/spec/serviceAccountName"),
              kObjects);

    w.set_all("Running");
    w.run_for(1s);
    // Its container was killed, and then its node was lost.
    w.set_phase("torch-elasticmaster-0", "Running", std::nullopt, 7);
    w.run_for(1s);
    w.delete_pod("torch-elasticmaster-0");
    w.reap();
    w.run_for(5s);
    EXPECT_THAT(w.pods(), SizeIs(3)) << "the next one";
    const jobs::JobStatus status = w.status("torch");
    EXPECT_TRUE(status.is("Running"));
    EXPECT_FALSE(status.is("Restarting"));
    EXPECT_THAT(status.replica_statuses, ElementsAre(testing::Key("Worker")));
    EXPECT_EQ(w.restarts("torch"), 0);

    w.set_phase("torch-worker-0", "Succeeded");
    w.set_phase("torch-worker-1", "Succeeded");
    w.run_for(5s);
    EXPECT_TRUE(w.status("torch").is("Succeeded"));
    EXPECT_THAT(w.pods(), SizeIs(3)) << "it may be about to end";
    w.run_for(20s);
    w.reap();
    w.run_for(1s);
    EXPECT_THAT(w.pods(), testing::UnorderedElementsAre("torch-worker-0", "torch-worker-1"));
}

/// Operators die after each number of writes, requests and answers get lost: no pod is made before
/// all is there, and what the master wrote is never replaced.
TEST(ElasticMaster, TheRecordOutlivesFaultsOfOperators) {
    for (const std::uint64_t seed : seeds_of_this_run(30, 5)) {
        SCOPED_TRACE(seed);
        ElasticWorld w(seed);
        w.transport.failure_probability = 0.3;
        w.transport.longest_delay = 20ms;
        w.transport.writes_left = static_cast<int>(seed % 8);
        w.start_operator();
        w.create();
        json::value written;
        if (w.object(kube::types::kConfigMaps, kName)) written = w.write_record("AAAA");
        if (w.there().size() < 4) {
            EXPECT_THAT(w.pods(), IsEmpty());
        }
        for (int round = 0; round < 3; ++round) {
            w.stop_operator();
            w.transport.writes_left.reset();
            w.start_operator();
            w.run_for(300s);
            ASSERT_THAT(w.there(), SizeIs(4));
            EXPECT_THAT(w.pods(), SizeIs(3));
            if (written.is_null()) written = w.write_record("BBBB");
            EXPECT_EQ(w.record(), written);
        }
    }
}

}  // namespace
}  // namespace muster::operators::operator_elastic_master_test
