#include "sim/simulated_nodes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "apiserver/api_server.h"
#include "base/time/sim_clock.h"
#include "kube/client/client.h"
#include "kube/values/document.h"
#include "sim/internal/test_loop.h"

namespace muster::sim::simulated_nodes_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

/// Notes what it is told.
class NotedProgram final : public PodProgram {
  public:
    explicit NotedProgram(std::vector<std::string>& told) : told_(told) {
        told_.push_back("start");
    }
    void terminate() override { told_.push_back("terminate"); }
    void kill(Death death) override {
        told_.push_back(death == Death::kOfMachine ? "kill with its machine" : "kill");
    }
    void cut_off(bool so) override {
        if (so != std::exchange(cut_off_, so)) told_.push_back(so ? "cut off" : "back");
    }

  private:
    std::vector<std::string>& told_;
    bool cut_off_ = false;
};

/// An API and nodes on it; each pod lives as `lives` says of its name.
class NodesTest : public ::testing::Test {
  protected:
    void start(NodesOptions options = {}) {
        (void)loop.wait(api.start());
        nodes = std::make_unique<SimulatedNodes>(
            loop.context.get_executor(), api, loop.clock, rng,
            [this](const PodIdentity& pod, int attempt) {
                const auto& starts = lives[std::string(pod.name)];
                if (starts.empty()) return PodLife{.run_time = Duration::max()};
                return starts[std::min(static_cast<std::size_t>(attempt), starts.size() - 1)];
            },
            options,
            [this](const json::value& pod, const PodPlace& place,
                   std::function<void(std::int32_t)> ended) -> std::unique_ptr<PodProgram> {
                const std::string name(pod.at("metadata").at("name").get_string());
                if (!name.starts_with("program")) return nullptr;
                places.push_back(fmt::format("node-{} {}", place.node, place.address));
                ends[name] = std::move(ended);
                return std::make_unique<NotedProgram>(told);
            });
        loop.wait(nodes->start());
    }
    ~NodesTest() override {
        if (nodes != nullptr) loop.wait(nodes->stop());
        loop.wait(api.stop());
    }

    void create(const std::string& name, std::string policy = "Never") {
        json::value pod = json::object{
            {"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", {{"name", name}}},
            {"spec",
             {{"restartPolicy", std::move(policy)},
              {"containers", json::array{json::object{{"name", "main"}, {"image", "a:1"}}}}}}};
        auto made = loop.wait(client.create(kube::types::kPods, "default", std::move(pod)));
        ASSERT_TRUE(made) << made.error().message();
        loop.run_for(1ms);
    }
    void remove(const std::string& name) {
        ASSERT_TRUE(loop.wait(client.remove(kube::types::kPods, "default", name)));
        loop.run_for(1ms);
    }
    std::optional<json::value> get(const std::string& name) {
        auto found = loop.wait(client.get(kube::types::kPods, "default", name));
        if (!found) return std::nullopt;
        return kube::copy_of(**found);
    }
    /// "Running 1", "Failed 0 137": phase, restarts and the exit code that shows.
    std::string show(const std::string& name) {
        const auto pod = get(name);
        if (!pod) return "gone";
        const json::object& status = pod->at("status").get_object();
        std::string text(status.at("phase").get_string());
        if (const json::value* reason = status.if_contains("reason"))
            text += fmt::format(" {}", reason->get_string().c_str());
        const json::value* containers = status.if_contains("containerStatuses");
        if (containers == nullptr) return text;
        const json::object& container = containers->at(0).get_object();
        text += fmt::format(" {}", container.at("restartCount").as_int64());
        const json::object& state = container.at("state").get_object();
        if (const json::value* ended = state.if_contains("terminated"))
            text += fmt::format(" {}", ended->at("exitCode").as_int64());
        if (state.contains("waiting")) text += " waiting";
        return text;
    }

    SimLoop loop;
    Rng rng{7};
    apiserver::ApiServer api{loop.context.get_executor(), loop.clock, rng,
                             store::make_memory_store()};
    kube::Client client{api};
    std::map<std::string, std::vector<PodLife>> lives;
    // Of pods whose names begin with "program".
    std::vector<std::string> told;
    std::vector<std::string> places;
    std::map<std::string, std::function<void(std::int32_t)>> ends;
    std::unique_ptr<SimulatedNodes> nodes;
};

TEST_F(NodesTest, APodIsBoundAndLivesItsLife) {
    start();
    lives["a"] = {{.start_delay = 2s, .run_time = 10s, .exit_code = 0}};
    lives["b"] = {{.start_delay = 2s, .run_time = 10s, .exit_code = 3}};
    create("a");
    create("b");
    EXPECT_EQ(get("a")->at("spec").at("nodeName"), "node-0");
    EXPECT_EQ(get("b")->at("spec").at("nodeName"), "node-1");
    EXPECT_EQ(show("a"), "Pending");
    loop.run_for(3s);
    EXPECT_EQ(show("a"), "Running 0");
    EXPECT_EQ(show("b"), "Running 0");
    loop.run_for(10s);
    EXPECT_EQ(show("a"), "Succeeded 0 0");
    EXPECT_EQ(show("b"), "Failed 0 3");
}

TEST_F(NodesTest, ContainersStartAgainInPlaceAsThePolicySays) {
    start();
    const std::vector<PodLife> life = {{.run_time = 5s, .exit_code = 1},
                                       {.run_time = 5s, .exit_code = 2},
                                       {.run_time = 5s, .exit_code = 0}};
    for (const char* pod : {"never", "on-failure", "always"}) lives[pod] = life;
    create("never", "Never");
    create("on-failure", "OnFailure");
    create("always", "Always");
    loop.run_for(6s);  // the first restart comes at once
    EXPECT_EQ(show("never"), "Failed 0 1");
    EXPECT_EQ(show("on-failure"), "Running 1");
    EXPECT_EQ(get("on-failure")
                  ->at("status")
                  .at("containerStatuses")
                  .at(0)
                  .at("lastState")
                  .at("terminated")
                  .at("exitCode"),
              1);
    loop.run_for(5s);
    EXPECT_EQ(show("on-failure"), "Running 1 waiting");
    loop.run_for(10s);
    EXPECT_EQ(show("on-failure"), "Running 2");
    loop.run_for(5s);
    EXPECT_EQ(show("on-failure"), "Succeeded 2 0");
    EXPECT_EQ(show("always"), "Running 2 waiting");
}

TEST_F(NodesTest, ADeletedPodIsStoppedAndThenGoes) {
    start();
    lives["a"] = {{.run_time = Duration::max(), .stop_time = 4s}};
    lives["b"] = {{.run_time = Duration::max(), .stop_time = 1h}};
    create("a");
    create("b");
    remove("a");
    remove("b");
    loop.run_for(3s);
    EXPECT_EQ(show("a"), "Running 0");
    loop.run_for(2s);
    EXPECT_EQ(show("a"), "gone");
    loop.run_for(24s);
    EXPECT_EQ(show("b"), "Running 0");
    loop.run_for(2s);
    EXPECT_EQ(show("b"), "gone") << "the grace period is the longest that it gets";
}

TEST_F(NodesTest, EveryPhaseIsReportedOrNotAsAsked) {
    for (const bool every : {true, false}) {
        apiserver::ApiServer fresh(loop.context.get_executor(), loop.clock, rng,
                                   store::make_memory_store());
        (void)loop.wait(fresh.start());
        SimulatedNodes quick(loop.context.get_executor(), fresh, loop.clock, rng,
                             [](const PodIdentity&, int) { return PodLife{}; },
                             {.report_every_phase = every});
        loop.wait(quick.start());
        kube::Client other(fresh);
        auto watch = loop.wait(other.watch(kube::types::kPods, kube::WatchOptions{}));
        (void)loop.wait(other.create(
            kube::types::kPods, "default",
            json::value(json::object{
                {"metadata", {{"name", "a"}}},
                {"spec",
                 {{"restartPolicy", "Never"},
                  {"containers",
                   json::array{json::object{{"name", "main"}, {"image", "a:1"}}}}}}})));
        loop.run_for(1s);
        std::string phases;
        for (int i = 0; i < (every ? 4 : 3); ++i) {
            auto event = loop.wait((*watch)->next());
            phases +=
                fmt::format(" {}", (*event)->object->at("status").at("phase").as_string().c_str());
        }
        EXPECT_EQ(phases,
                  every ? " Pending Pending Running Succeeded" : " Pending Pending Succeeded");
        loop.wait(quick.stop());
        watch->reset();
        loop.wait(fresh.stop());
    }
}

TEST_F(NodesTest, PodsOfADeadNodeStayUntilTheClusterGivesThemUp) {
    start({.nodes = 1});
    create("a");
    nodes->kill_node(0);
    loop.run_for(339s);
    EXPECT_EQ(show("a"), "Running 0");
    EXPECT_FALSE(get("a")->at("metadata").get_object().contains("deletionTimestamp"));
    loop.run_for(2s);
    EXPECT_TRUE(get("a")->at("metadata").get_object().contains("deletionTimestamp"));
    loop.run_for(258s);
    EXPECT_EQ(show("a"), "Running 0");
    loop.run_for(2s);
    EXPECT_EQ(show("a"), "gone");
    create("b");
    loop.run_for(60s);
    EXPECT_EQ(show("b"), "Pending") << "there is no node";
    nodes->revive_node(0);
    loop.run_for(10s);
    EXPECT_EQ(show("b"), "Running 0");
}

TEST_F(NodesTest, WhatRanOnANodeThatDiedHasEndedWhenItIsBack) {
    start({.nodes = 1});
    create("a", "Never");
    create("b", "OnFailure");
    nodes->kill_node(0);
    loop.run_for(30s);
    EXPECT_EQ(show("a"), "Running 0");
    nodes->revive_node(0);
    loop.run_for(1s);
    EXPECT_EQ(show("a"), "Failed 0 137");
    EXPECT_EQ(show("b"), "Running 1");
}

TEST_F(NodesTest, ASilentNodeTellsLaterWhatHappened) {
    start({.nodes = 1});
    lives["a"] = {{.run_time = 5s, .exit_code = 0}};
    create("a");
    nodes->silence_node(0);
    loop.run_for(30s);
    EXPECT_EQ(show("a"), "Running 0");
    nodes->revive_node(0);
    loop.run_for(1s);
    EXPECT_EQ(show("a"), "Succeeded 0 0");
}

TEST_F(NodesTest, LateReportsComeLate) {
    start({.nodes = 1});
    nodes->delay_reports(0, 20s);
    create("a");
    loop.run_for(19s);
    EXPECT_EQ(show("a"), "Pending");
    loop.run_for(2s);
    EXPECT_EQ(show("a"), "Running 0");
}

TEST_F(NodesTest, AnEvictedPodShowsNoExitCode) {
    start();
    create("a", "OnFailure");
    EXPECT_EQ(nodes->running(), std::vector<std::string>{"default/a"});
    EXPECT_TRUE(nodes->evict("default/a"));
    loop.run_for(1ms);
    EXPECT_EQ(show("a"), "Failed Evicted");
    EXPECT_FALSE(nodes->evict("default/a")) << "it no longer runs";
    EXPECT_FALSE(nodes->crash("default/none", 1));
}

TEST_F(NodesTest, ACrashEndsTheContainersNow) {
    start();
    create("a", "Never");
    EXPECT_TRUE(nodes->crash("default/a", 9));
    loop.run_for(1ms);
    EXPECT_EQ(show("a"), "Failed 0 9");
}

TEST(PodLife, FollowsFromSeedPodAndStartAlone) {
    const PodBehaviour behaviour{.run_time = {1s, 100s},
                                 .exits = {{.exit_code = 0, .weight = 3}, {.exit_code = 1}}};
    const PodIdentity pod{.uid = "7f0f"};
    int same_time = 0;
    int failures = 0;
    for (int start = 0; start < 1000; ++start) {
        const PodLife life = life_of(behaviour, 1, pod, start);
        EXPECT_EQ(life.run_time, life_of(behaviour, 1, pod, start).run_time);
        EXPECT_GE(life.run_time, 1s);
        EXPECT_LE(life.run_time, 100s);
        same_time += life.run_time == life_of(behaviour, 2, pod, start).run_time ? 1 : 0;
        failures += life.exit_code;
    }
    EXPECT_LT(same_time, 10);
    EXPECT_NEAR(failures, 250, 60);
}

TEST_F(NodesTest, AProgramRunsUntilItEndsByItself) {
    start();
    create("program", "OnFailure");
    loop.run_for(1h);
    EXPECT_EQ(show("program"), "Running 0");
    EXPECT_EQ(places, std::vector<std::string>{"node-0 10.0.0.1"});
    ends["program"](3);
    loop.run_for(1ms);
    EXPECT_EQ(show("program"), "Running 1") << "another start, in place";
    ends["program"](0);
    loop.run_for(1ms);
    EXPECT_EQ(show("program"), "Succeeded 1 0");
    EXPECT_THAT(told, ElementsAre("start", "start"));
}

TEST_F(NodesTest, AProgramIsToldToStopAndKilledWhenItsGraceIsOver) {
    start();
    create("program-a");
    create("program-b");
    remove("program-a");
    remove("program-b");
    EXPECT_THAT(told, ElementsAre("start", "start", "terminate", "terminate"));
    loop.run_for(10s);
    ends["program-a"](143);
    loop.run_for(1ms);
    EXPECT_EQ(show("program-a"), "gone");
    EXPECT_EQ(show("program-b"), "Running 0");
    loop.run_for(20s);
    EXPECT_EQ(show("program-b"), "gone");
    EXPECT_THAT(told, ElementsAre("start", "start", "terminate", "terminate", "kill"));
}

TEST_F(NodesTest, AProgramDiesWithItsNodeAndStartsAnewWithIt) {
    start({.nodes = 1});
    create("program", "OnFailure");
    nodes->kill_node(0);
    EXPECT_THAT(told, ElementsAre("start", "kill with its machine"));
    loop.run_for(5s);
    EXPECT_TRUE(nodes->faults_of(0).excuse(loop.clock.now(), loop.clock.now()));
    nodes->revive_node(0);
    loop.run_for(1ms);
    EXPECT_EQ(show("program"), "Running 1");
    EXPECT_THAT(told, ElementsAre("start", "kill with its machine", "start"));
}

TEST_F(NodesTest, AProgramOnASilentNodeLivesOnCutOff) {
    start({.nodes = 1});
    create("program", "OnFailure");
    nodes->silence_node(0);
    loop.run_for(30s);
    EXPECT_THAT(told, ElementsAre("start", "cut off"));
    EXPECT_TRUE(nodes->faults_of(0).excuse(loop.clock.now(), loop.clock.now()));
    ends["program"](1);
    loop.run_for(1ms);
    EXPECT_THAT(told, ElementsAre("start", "cut off", "start", "cut off"));
    nodes->revive_node(0);
    loop.run_for(1min);
    EXPECT_THAT(told, ElementsAre("start", "cut off", "start", "cut off", "back"));
    EXPECT_FALSE(nodes->faults_of(0).excuse(loop.clock.now(), loop.clock.now()));
}

TEST_F(NodesTest, WhatTheApiKnowsNoMoreIsEndedWhenItsNodeIsBack) {
    start({.nodes = 1});
    create("program");
    nodes->silence_node(0);
    loop.run_for(11min);
    EXPECT_EQ(show("program"), "gone");
    EXPECT_THAT(told, ElementsAre("start", "cut off"));
    nodes->revive_node(0);
    loop.run_for(1s);
    EXPECT_THAT(told, ElementsAre("start", "cut off", "back", "terminate"));
    loop.run_for(1min);
    EXPECT_THAT(told, ElementsAre("start", "cut off", "back", "terminate", "kill"));
}

TEST_F(NodesTest, AnEvictedProgramAndOneThatCrashesAreKilled) {
    start();
    create("program-a");
    create("program-b");
    EXPECT_TRUE(nodes->evict("default/program-a"));
    EXPECT_TRUE(nodes->crash("default/program-b", 137));
    loop.run_for(1ms);
    EXPECT_EQ(show("program-a"), "Failed Evicted");
    EXPECT_EQ(show("program-b"), "Failed 0 137");
    EXPECT_THAT(told, ElementsAre("start", "start", "kill", "kill"));
    ends["program-a"](0);
    loop.run_for(1ms);
    EXPECT_EQ(show("program-a"), "Failed Evicted") << "nobody listens to what was killed";
}

}  // namespace
}  // namespace muster::sim::simulated_nodes_test
