#include "master_process/wanted_nodes/wanted_nodes.h"

#include <gmock/gmock.h>

#include "apiserver/api_server.h"
#include "base/test_loop.h"
#include "master/service/quiet_host.h"
#include "store/store.h"

namespace muster::master_process::wanted_nodes_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::optional<WantedRanks> ranks(std::string_view members) {
    return wanted_ranks({{"status", {{"members", json::parse(members)}}}}, {"worker", "chief"});
}
std::optional<int> wanted(std::string_view members) {
    const auto found = ranks(members);
    return found ? std::optional(found->number) : std::nullopt;
}

TEST(WantedNodesTest, CountsRanks) {
    EXPECT_EQ(wanted(R"({"worker": {"ids": "0-3", "next": 4}})"), 4);
    EXPECT_EQ(wanted(R"({"worker": {"ids": "0,2-3,7", "ranks": {"7": 1}, "next": 8}})"), 4);
    EXPECT_EQ(wanted(R"({"worker": {"ids": "0-1"}, "chief": {"ids": "0"}})"), 3);
    EXPECT_EQ(wanted(R"({"worker": {"ids": "0-1"}, "ps": {"ids": "0-4"}})"), 2)
        << "no agents run there";
    EXPECT_EQ(wanted(R"({"worker": {"ids": "0-2", "ranks": {"2": 0}, "next": 3}})"), 2)
        << "one takes over from another";
}

TEST(WantedNodesTest, FindsRanksThatALaterReplicaHasOrTakesOver) {
    EXPECT_THAT(ranks(R"({"worker": {"ids": "0-3"}})")->of_successors, IsEmpty());
    EXPECT_THAT(ranks(R"({"worker": {"ids": "0-2,7", "ranks": {"7": 3}}})")->of_successors,
                ElementsAre(3));
    EXPECT_THAT(ranks(R"({"worker": {"ids": "0-2,4", "ranks": {"4": 1, "9": 2}}})")->of_successors,
                ElementsAre(1))
        << "9 is not wanted";
    EXPECT_THAT(
        ranks(R"({"worker": {"ids": "0-1", "ranks": {"1": -1, "0": 100000}}})")->of_successors,
        IsEmpty())
        << "no rank that there is";
}

TEST(WantedNodesTest, WhatSaysNothingSaysNothing) {
    EXPECT_EQ(wanted_ranks(json::value(), {"worker"}), std::nullopt);
    EXPECT_EQ(wanted_ranks({{"status", json::object()}}, {"worker"}), std::nullopt);
    for (const char* members :
         {"{}", "[]", R"({"worker": 3})", R"({"worker": {"ids": 3}})", R"({"worker": {"ids": ""}})",
          R"({"worker": {"ids": "a-b"}})", R"({"worker": {"ids": "-1"}})",
          R"({"worker": {"ids": "0-999999999"}})", R"({"worker": {"ids": "1-"}})"})
        EXPECT_EQ(wanted(members), std::nullopt) << members;
}

TEST(WantedNodesTest, AKindIsNamedAsKubectlNamesIt) {
    const auto type = resource_of("elasticjobs.v1alpha1.elastic.iml.github.io");
    ASSERT_TRUE(type);
    EXPECT_EQ(type->path("ns"), "/apis/elastic.iml.github.io/v1alpha1/namespaces/ns/elasticjobs");
    for (const char* text : {"", "elasticjobs", "elasticjobs.v1", "elasticjobs.v1.", ".v1.g"})
        EXPECT_FALSE(resource_of(text)) << text;
}

class ToldJob final : public master::QuietHost {
  public:
    void wants_nodes(int nodes) override { told.push_back(nodes); }
    void expects_successors(std::set<master::Slot> slots) override {
        successors = std::move(slots);
    }
    void wants_servers(int servers) override { servers_told.push_back(servers); }

    std::vector<int> told;
    std::vector<int> servers_told;
    std::set<master::Slot> successors;
};

const json::value kDefinition = json::parse(R"({
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
  "metadata": {"name": "jobs.example.com"},
  "spec": {"group": "example.com", "scope": "Namespaced",
           "names": {"plural": "jobs", "singular": "job", "kind": "Job", "listKind": "JobList"},
           "versions": [{"name": "v1", "served": true, "storage": true,
                         "schema": {"openAPIV3Schema": {
                             "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})");

class FollowedTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    FollowedTest() {
        EXPECT_TRUE(await(api.start()));
        EXPECT_TRUE(await(client.create(kube::types::kCustomResourceDefinitions, "", kDefinition)));
        settle();
        for (const char* name : {"a", "other"})
            EXPECT_TRUE(await(client.create(kJobs, "default",
                                            {{"apiVersion", "example.com/v1"},
                                             {"kind", "Job"},
                                             {"metadata", {{"name", name}}}})));
        nodes.start(tasks);
        settle();
    }
    ~FollowedTest() override {
        await(tasks.stop());
        await(api.stop());
    }
    void say(const char* name, const char* ids, const char* type = "worker") {
        EXPECT_TRUE(await(client.patch(kJobs, "default", name, kube::ContentType::kMergePatch,
                                       {{"status", {{"members", {{type, {{"ids", ids}}}}}}}})));
        settle();
    }
    /// As a master does it when it was woken.
    void look(master::Service& service) {
        while (woken) {
            woken = false;
            service.advance(clock.now(), clock.wall_now());
        }
    }

    const kube::ResourceType kJobs = resource_of("jobs.v1.example.com").value();
    Rng rng{1};
    apiserver::ApiServer api{context.get_executor(), clock, rng, store::make_memory_store()};
    kube::Client client{api};
    TaskGroup tasks{context.get_executor()};
    WantedNodes nodes{client, clock, rng, {kJobs, "default", "a", {"worker"}}};
    ToldJob job;
    bool woken = true;
    master::ServiceContext told{
        .executor = context.get_executor(), .job = job, .wake = [this] { woken = true; }};
};

TEST_F(FollowedTest, TheJobIsToldEachNewNumber) {
    const auto service = nodes.service(told);
    look(*service);
    EXPECT_THAT(job.told, IsEmpty()) << "nothing is wanted yet";
    say("a", "0-3");
    look(*service);
    EXPECT_THAT(job.told, ElementsAre(4));
    say("other", "0-7");
    say("a", "0-2,4");
    look(*service);
    EXPECT_THAT(job.told, ElementsAre(4)) << "neither another job nor another id is news";
    say("a", "0-1");
    look(*service);
    EXPECT_THAT(job.told, ElementsAre(4, 2));
}

TEST_F(FollowedTest, TheJobIsToldWhoTakesOver) {
    const auto service = nodes.service(told);
    say("a", "0-1");
    EXPECT_TRUE(await(client.patch(
        kJobs, "default", "a", kube::ContentType::kMergePatch,
        json::parse(R"({"status": {"members": {"worker": {"ids": "0-2", "ranks": {"2": 1}}}}})"))));
    settle();
    look(*service);
    EXPECT_THAT(job.told, ElementsAre(2));
    EXPECT_THAT(job.successors, ElementsAre(1));
}

TEST_F(FollowedTest, ParameterServersAreNoNodesAndToldBesides) {
    const auto service = nodes.service(told);
    say("a", "0-1", "ps");
    look(*service);
    EXPECT_THAT(job.told, IsEmpty());
    EXPECT_THAT(job.servers_told, ElementsAre(2));
    say("a", "0", "ps");
    look(*service);
    EXPECT_THAT(job.servers_told, ElementsAre(2, 1));
    say("a", "", "ps");
    look(*service);
    EXPECT_THAT(job.servers_told, ElementsAre(2, 1)) << "that says nothing";
}

TEST_F(FollowedTest, TheNextMasterOfTheProcessIsToldAtOnce) {
    say("a", "0-3");
    {
        look(*nodes.service(told));
    }
    say("a", "0-1");
    job.told.clear();
    woken = true;
    look(*nodes.service(told));
    EXPECT_THAT(job.told, ElementsAre(2));
}

}  // namespace
}  // namespace muster::master_process::wanted_nodes_test
