// Jobs whose masters keep their record in the API, and follow the job there.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "apiserver/api_server.h"
#include "base/test_loop.h"
#include "master_process/records/config_map_records.h"
#include "master_process/wanted_nodes/wanted_nodes.h"
#include "sim/internal/elastic_job.h"
#include "sim/internal/observed_store.h"

namespace muster::sim::elastic_job_in_api_test {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

constexpr const char* kRecord = "elasticjob-demo-dlrover-master";

const json::value kDefinition = json::parse(R"({
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
  "metadata": {"name": "jobs.example.com"},
  "spec": {"group": "example.com", "scope": "Namespaced",
           "names": {"plural": "jobs", "singular": "job", "kind": "Job", "listKind": "JobList"},
           "versions": [{"name": "v1", "served": true, "storage": true,
                         "schema": {"openAPIV3Schema": {
                             "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})");

/// What an operator does is done by the test: the job, the object for its record, and its pods.
class MastersInApiTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    MastersInApiTest() {
        EXPECT_TRUE(await(api.start()));
        EXPECT_TRUE(await(user.create(kube::types::kCustomResourceDefinitions, "", kDefinition)));
        settle();
        EXPECT_TRUE(await(user.create(kJobs, "default",
                                      {{"apiVersion", "example.com/v1"},
                                       {"kind", "Job"},
                                       {"metadata", {{"name", "demo"}}}})));
        EXPECT_TRUE(await(user.create(
            kube::types::kConfigMaps, "default",
            {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", kRecord}}}})));
    }
    ~MastersInApiTest() override {
        await(job.stop());
        await(api.stop());
    }

    void wants_workers(const char* ids) {
        EXPECT_TRUE(await(user.patch(kJobs, "default", "demo", kube::ContentType::kMergePatch,
                                     {{"status", {{"members", {{"worker", {{"ids", ids}}}}}}}})));
        settle();
    }
    void set_api_away(bool so) {
        for (const auto& one : apis)
            one->set_faults(so ? nothing_gets_through(1ms) : TransportFaults{});
        job.set_api_away(so);
    }
    /// `nodes`: what $(NODE_NUM) says at its start.
    ElasticPod& worker(int id, int nodes) {
        launch::LaunchPlan plan;
        plan.rendezvous.where = launch::Rendezvous::Where::kElsewhere;
        plan.rendezvous.endpoints = {{"demo-master", 50001}};
        plan.rendezvous.slot = id;
        plan.nodes = {nodes, nodes};
        plan.times.last_call = 1s;
        for (job_protocol::Budget& budget : plan.budgets) budget.incidents = 5;
        const json::value pod = json::parse(
            fmt::format(R"({{"metadata":{{"name":"demo-worker-{0}","uid":"worker-{0}"}}}})", id));
        ElasticPod& made = job.pod_of(pod, plan, {id, fmt::format("10.0.0.{}", id), machine}, {});
        job.start(made, plan, [this](std::int32_t) { job.lost_container(); });
        return made;
    }
    MasterPod& master(int id) {
        const json::value pod = json::parse(
            fmt::format(R"({{"metadata":{{"name":"demo-master-{0}","uid":"master-{0}"}}}})", id));
        MasterPod& made = job.master_of(pod, {3, "10.1.0.1", machine_of_master});
        made.start({.job = "demo",
                    .namespace_ = "default",
                    .record_object = kRecord,
                    .job_object = "jobs.v1.example.com",
                    .node_types = "worker"},
                   [this](std::int32_t) { job.lost_container(); });
        return made;
    }
    /// Null: it has none, or is not in charge.
    static const master::World* world_of(const MasterPod& master) {
        return master.job() == nullptr ? nullptr : master.job()->world();
    }
    std::size_t incidents() {
        const auto object = await(user.get(kube::types::kConfigMaps, "default", kRecord));
        return object ? master_process::record_in(**object).value().incidents.size() : 0;
    }
    std::size_t live() {
        std::size_t sum = 0;
        for (const auto& pod : job.pods()) sum += pod->node.workers.live();
        return sum;
    }
    std::vector<std::string> broken() const {
        std::vector<std::string> names;
        for (const Violation& violation : ledger.violations())
            names.push_back(violation.invariant + " " + violation.what);
        return names;
    }
    void committed(const store::StoreChange& change) {
        if (change.key.resource == "configmaps") job.record_changed(change.object.get());
    }

    const kube::ResourceType kJobs = master_process::resource_of("jobs.v1.example.com").value();
    Rng rng{3};
    Ledger ledger{clock};
    FaultWindows machine;
    FaultWindows machine_of_master;
    std::vector<std::shared_ptr<ApiOfPod>> apis;
    ElasticJob job{
        context.get_executor(),
        clock,
        rng,
        ledger,
        "demo",
        {.work = 2h, .reach_api = [this] {
             return apis.emplace_back(std::make_shared<ApiOfPod>(
                 context.get_executor(), api, clock, 1, TransportFaults{}, TransportHooks{}));
         }}};
    apiserver::ApiServer api{context.get_executor(), clock, rng,
                             std::make_unique<ObservedStore>(
                                 store::make_memory_store(),
                                 [this](const store::StoreChange& change) { committed(change); })};
    kube::Client user{api};
};

TEST_F(MastersInApiTest, WhatWasChargedIsRememberedByTheNextMaster) {
    wants_workers("0-1");
    master(0);
    for (int i = 0; i < 2; ++i) worker(i, 2);
    advance(20s);
    ASSERT_TRUE(job.pods().front()->node.workers.end(0, {.exit_code = 1}));
    advance(10s);
    EXPECT_EQ(incidents(), 1u);
    job.masters().front()->kill(PodProgram::Death::kOfContainer);
    ASSERT_TRUE(job.pods().front()->node.workers.end(0, {.exit_code = 1}));
    advance(10s);
    master(1);
    advance(3s);
    EXPECT_EQ(live(), 2u);
    EXPECT_EQ(incidents(), 2u);
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(MastersInApiTest, TheApiIsAwayWhenTheMachineOfTheMasterDies) {
    wants_workers("0-1");
    master(0);
    for (int i = 0; i < 2; ++i) worker(i, 2);
    advance(20s);
    set_api_away(true);
    advance(10s);
    machine_of_master.gone(clock.now());
    job.masters().front()->kill(PodProgram::Death::kOfMachine);
    master(1);
    apis.back()->set_faults(nothing_gets_through(1ms));
    ASSERT_TRUE(job.pods().front()->node.workers.end(0, {.exit_code = 1}));
    advance(2min);
    EXPECT_EQ(live(), 1u) << "the other one is healthy, and continues";
    set_api_away(false);
    advance(3s);
    EXPECT_EQ(live(), 2u);
    EXPECT_EQ(incidents(), 1u);
    EXPECT_THAT(broken(), IsEmpty());
}

/// A pod is made again only where an API is, so the master that dies meanwhile has no successor before.
TEST_F(MastersInApiTest, AfterAnHourWithoutTheApiTheNextMasterContinuesTheSameGeneration) {
    wants_workers("0-1");
    const MasterPod& first = master(0);
    for (int i = 0; i < 2; ++i) worker(i, 2);
    advance(20s);
    ASSERT_NE(world_of(first), nullptr);
    const job_protocol::Generation generation = world_of(first)->generation;
    set_api_away(true);
    advance(30min);
    EXPECT_EQ(live(), 2u);
    job.masters().front()->kill(PodProgram::Death::kOfContainer);
    advance(30min);
    EXPECT_EQ(live(), 2u) << "they need no master";
    set_api_away(false);
    const MasterPod& next = master(1);
    advance(5s);
    ASSERT_NE(world_of(next), nullptr) << "nothing is decided about the job";
    EXPECT_EQ(world_of(next)->generation, generation);
    EXPECT_EQ(world_of(next)->restarts, 0);
    EXPECT_EQ(live(), 2u);
    EXPECT_EQ(job.rules().worlds(), 1u);
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(MastersInApiTest, AMasterThatWasCutOffFromTheApiForAnHourIsAtWorkSoonAfter) {
    wants_workers("0-1");
    const MasterPod& first = master(0);
    for (int i = 0; i < 2; ++i) worker(i, 2);
    advance(20s);
    set_api_away(true);
    advance(1h);
    EXPECT_EQ(live(), 2u);
    EXPECT_TRUE(first.runs());
    set_api_away(false);
    wants_workers("0-2");
    worker(2, 3);
    advance(5s);
    EXPECT_EQ(live(), 3u) << "the change of its job reached it";
    ASSERT_TRUE(job.pods().front()->node.workers.end(0, {.exit_code = 1}));
    advance(3s);
    EXPECT_EQ(live(), 3u);
    EXPECT_EQ(incidents(), 1u) << "its record reached the API";
    EXPECT_EQ(job.masters().size(), 1u);
    EXPECT_THAT(broken(), IsEmpty());
}

TEST_F(MastersInApiTest, SoManyWorkersTrainAsTheJobWantsByThen) {
    wants_workers("0-1");
    master(0);
    for (int i = 0; i < 2; ++i) worker(i, 2);
    advance(20s);
    EXPECT_EQ(live(), 2u);
    wants_workers("0-3");
    for (int i = 2; i < 4; ++i) worker(i, 4);
    advance(20s);
    EXPECT_EQ(live(), 4u);
    wants_workers("0-1");
    for (const auto& pod : job.pods())
        if (pod->name > "demo-worker-1") pod->terminate();
    advance(20s);
    EXPECT_EQ(live(), 2u);
    EXPECT_EQ(job.rules().worlds(), 3u);
    EXPECT_THAT(broken(), IsEmpty());
}

}  // namespace
}  // namespace muster::sim::elastic_job_in_api_test
