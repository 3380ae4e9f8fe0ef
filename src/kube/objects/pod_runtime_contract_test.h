#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/test_loop.h"
#include "kube/client/client.h"
#include "kube/objects/codec.h"
#include "kube/objects/pod.h"

namespace muster::kube {

/// What one start of a pod's container does.
struct PodRun {
    std::int32_t exit_code = 0;
    bool held = false;  ///< runs until it is released, or told to stop
};

/// What whoever runs pods must do, as the API shows it: scheduler and kubelet in one. A test
/// program names a world with `TestLoop& loop()`, `Client& client()`, an API whose pods are run,
/// and
///
///     json::value pod(name, runs, policy)   // a manifest for "default", its container "main": its
///                                           // k-th start does runs[k], further ones the last
///     json::value unstartable(name)         // a pod that never gets as far as a start
///     void release(name)                    // the start that is held ends now
///
/// and instantiates the suite for it.
template <class World>
class PodRuntimeContract : public ::testing::Test {
  protected:
    using Runs = std::vector<PodRun>;

    void create(json::value pod) {
        auto made =
            world_.loop().await(world_.client().create(types::kPods, "default", std::move(pod)));
        ASSERT_TRUE(made) << made.error().message();
    }
    void start(const std::string& name, Runs runs, const std::string& policy = "Never") {
        create(world_.pod(name, std::move(runs), policy));
    }
    void remove(const std::string& name, std::optional<std::int64_t> grace = {}) {
        DeleteOptions options;
        options.grace_period_seconds = grace;
        auto removed =
            world_.loop().await(world_.client().remove(types::kPods, "default", name, options));
        ASSERT_TRUE(removed) << removed.error().message();
    }
    /// The first state of the pod that is as wanted; nullopt: it went away instead.
    template <class Wanted>
    std::optional<Pod> wait_for(const std::string& name, Wanted wanted) {
        return world_.loop().await(watch_for(world_.client(), name, std::move(wanted)));
    }
    template <class Wanted>
    static Task<std::optional<Pod>> watch_for(Client& client, std::string name, Wanted wanted) {
        ListOptions list_options;
        list_options.namespace_ = "default";
        auto listed = co_await client.list(types::kPods, list_options);
        bool there = false;
        for (const ObjectPtr& item : listed->items) {
            auto pod = decode<Pod>(*item);
            if (pod->metadata.name != name) continue;
            there = true;
            if (wanted(*pod)) co_return *std::move(pod);
        }
        if (!there) co_return std::nullopt;
        WatchOptions watch_options;
        watch_options.namespace_ = "default";
        watch_options.resource_version = listed->resource_version;
        auto stream = co_await client.watch(types::kPods, watch_options);
        for (;;) {
            auto event = co_await (*stream)->next();
            if (!event || !*event) throw std::logic_error("the watch ended");
            if ((*event)->type == WatchEventType::kBookmark) continue;
            auto pod = decode<Pod>(*(*event)->object);
            if (pod->metadata.name != name) continue;
            if ((*event)->type == WatchEventType::kDeleted) co_return std::nullopt;
            if (wanted(*pod)) co_return *std::move(pod);
        }
    }
    Pod wait_phase(const std::string& name, const std::string& phase) {
        auto pod = wait_for(name, [&](const Pod& p) { return p.status.phase == phase; });
        EXPECT_TRUE(pod) << name << " went without being " << phase;
        return pod.value_or(Pod{});
    }
    /// All states that the pod shows from now until it is gone.
    std::vector<Pod> states_until_gone(const std::string& name) {
        std::vector<Pod> states;
        EXPECT_FALSE(wait_for(name, [&](const Pod& pod) {
            states.push_back(pod);
            return false;
        }));
        return states;
    }
    static const ContainerStatus& main_of(const Pod& pod) {
        static const ContainerStatus kNone;
        return pod.status.container_statuses.empty() ? kNone : pod.status.container_statuses[0];
    }
    static std::string condition(const Pod& pod, const std::string& type) {
        auto found = std::ranges::find(pod.status.conditions, type, &PodCondition::type);
        return found == pod.status.conditions.end() ? "none" : found->status;
    }
    static bool ended(const Pod& pod) {
        return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
    }

    World world_;
};

TYPED_TEST_SUITE_P(PodRuntimeContract);

TYPED_TEST_P(PodRuntimeContract, AWaitingPodIsBoundAndRunsWithAllThatOneLooksFor) {
    this->start("p", {{.exit_code = 0, .held = true}});
    const Pod pod = this->wait_phase("p", "Running");
    EXPECT_NE(pod.spec.node_name, "");
    EXPECT_NE(pod.status.pod_ip, "");
    EXPECT_NE(pod.status.host_ip, "");
    EXPECT_NE(pod.status.start_time, "");
    const ContainerStatus& main = this->main_of(pod);
    EXPECT_EQ(main.name, "main");
    EXPECT_EQ(main.ready, true);
    EXPECT_EQ(main.started, true);
    EXPECT_EQ(main.restart_count, 0);
    ASSERT_TRUE(main.state.running);
    EXPECT_GE(main.state.running->started_at, pod.status.start_time);
    EXPECT_FALSE(main.last_state.terminated);
    for (const char* type : {"PodScheduled", "Initialized", "ContainersReady", "Ready"})
        EXPECT_EQ(this->condition(pod, type), "True") << type;
}

TYPED_TEST_P(PodRuntimeContract, TheExitCodeDecidesThePhase) {
    struct Case {
        const char* name;
        std::int32_t code;
        const char* phase;
        const char* reason;
    };
    for (const Case& c :
         {Case{"good", 0, "Succeeded", "Completed"}, Case{"bad", 7, "Failed", "Error"},
          Case{"killed", 137, "Failed", "Error"}}) {
        SCOPED_TRACE(c.name);
        this->start(c.name, {{.exit_code = c.code}});
        const Pod pod = *this->wait_for(c.name, [&](const Pod& p) { return this->ended(p); });
        EXPECT_EQ(pod.status.phase, c.phase);
        const ContainerStatus& main = this->main_of(pod);
        ASSERT_TRUE(main.state.terminated);
        EXPECT_EQ(main.state.terminated->exit_code, c.code);
        EXPECT_EQ(main.state.terminated->reason, c.reason);
        EXPECT_GE(main.state.terminated->finished_at, main.state.terminated->started_at);
        EXPECT_EQ(main.ready, false);
        EXPECT_EQ(this->condition(pod, "Ready"), "False");
        EXPECT_EQ(this->condition(pod, "Initialized"), "True");
    }
}

TYPED_TEST_P(PodRuntimeContract, ThePolicySaysWhatIsStartedAgain) {
    struct Case {
        const char* name;
        const char* policy;
        typename TestFixture::Runs runs;
        const char* phase;
        int restarts;
        std::optional<std::int32_t> last;
    };
    const Case cases[] = {
        {"never", "Never", {{.exit_code = 1}, {.exit_code = 0}}, "Failed", 0, {}},
        {"onfailure", "OnFailure", {{.exit_code = 3}, {.exit_code = 0}}, "Succeeded", 1, 3},
        {"onfailure-good", "OnFailure", {{.exit_code = 0}, {.exit_code = 1}}, "Succeeded", 0, {}},
        {"always", "Always", {{.exit_code = 0}, {.exit_code = 0, .held = true}}, "Running", 1, 0}};
    for (const Case& c : cases) {
        SCOPED_TRACE(c.name);
        this->start(c.name, c.runs, c.policy);
        const Pod pod = *this->wait_for(c.name, [&](const Pod& p) {
            return p.status.phase == c.phase && this->main_of(p).restart_count == c.restarts &&
                   !this->main_of(p).state.waiting;
        });
        const auto& last = this->main_of(pod).last_state.terminated;
        EXPECT_EQ(last ? last->exit_code : std::nullopt, c.last);
    }
}

TYPED_TEST_P(PodRuntimeContract, TheSecondRestartIsWaitedFor) {
    this->start("p", {{.exit_code = 1}}, "OnFailure");
    const Pod pod = *this->wait_for("p", [&](const Pod& p) {
        const auto& waiting = this->main_of(p).state.waiting;
        return waiting && waiting->reason == "CrashLoopBackOff";
    });
    EXPECT_EQ(pod.status.phase, "Running") << "not Failed, nor Pending again";
    EXPECT_EQ(this->main_of(pod).restart_count, 1);
    EXPECT_EQ(this->main_of(pod).ready, false);
    ASSERT_TRUE(this->main_of(pod).last_state.terminated);
    EXPECT_EQ(this->main_of(pod).last_state.terminated->exit_code, 1);
}

TYPED_TEST_P(PodRuntimeContract, ADeletedPodShowsItsEndBeforeItGoes) {
    this->start("p", {{.exit_code = 0, .held = true}}, "Always");
    this->wait_phase("p", "Running");
    this->remove("p");
    const std::vector<Pod> states = this->states_until_gone("p");
    ASSERT_FALSE(states.empty());
    const Pod& last = states.back();
    ASSERT_TRUE(this->main_of(last).state.terminated);
    EXPECT_EQ(this->main_of(last).state.terminated->exit_code, 143);
    EXPECT_EQ(this->main_of(last).restart_count, 0) << "nothing is restarted";
    EXPECT_EQ(last.status.phase, "Failed");
}

TYPED_TEST_P(PodRuntimeContract, APodThatNeverStartedGoesAtOnce) {
    this->create(this->world_.unstartable("p"));
    auto bound = this->wait_for("p", [](const Pod& p) { return !p.spec.node_name.empty(); });
    ASSERT_TRUE(bound);
    this->remove("p");
    for (const Pod& state : this->states_until_gone("p")) {
        EXPECT_NE(state.status.phase, "Running");
        EXPECT_NE(state.status.phase, "Succeeded");
    }
}

TYPED_TEST_P(PodRuntimeContract, APodOfTheSameNameIsAnotherPod) {
    this->start("p", {{.exit_code = 5}});
    const Pod first = this->wait_phase("p", "Failed");
    this->remove("p", 0);
    this->states_until_gone("p");
    this->start("p", {{.exit_code = 0, .held = true}});
    const Pod second = this->wait_phase("p", "Running");
    EXPECT_NE(second.metadata.uid, first.metadata.uid);
    EXPECT_FALSE(this->main_of(second).last_state.terminated);
    this->remove("p", 0);
    this->states_until_gone("p");
    this->start("p", {{.exit_code = 0, .held = true}});
    const Pod third = this->wait_phase("p", "Running");
    this->world_.release("p");
    EXPECT_EQ(this->wait_phase("p", "Succeeded").metadata.uid, third.metadata.uid);
}

TYPED_TEST_P(PodRuntimeContract, AnEndIsTheEnd) {
    this->start("p", {{.exit_code = 5}});
    this->wait_phase("p", "Failed");
    auto labelled = this->world_.loop().await(
        this->world_.client().patch(types::kPods, "default", "p", ContentType::kMergePatch,
                                    json::object{{"metadata", {{"labels", {{"a", "b"}}}}}}));
    ASSERT_TRUE(labelled) << labelled.error().message();
    this->remove("p");
    for (const Pod& state : this->states_until_gone("p")) {
        EXPECT_EQ(state.status.phase, "Failed");
        EXPECT_EQ(this->main_of(state).state.terminated->exit_code, 5);
    }
}

TYPED_TEST_P(PodRuntimeContract, InitContainersAreDoneBeforeTheOthersRun) {
    json::value pod = this->world_.pod("p", {{.exit_code = 0, .held = true}}, "Never");
    json::value init = pod.at("spec").at("containers").at(0);
    init.as_object()["command"] = json::array{"true"};
    json::array inits;
    for (const char* name : {"first", "second"}) {
        init.as_object()["name"] = name;
        inits.push_back(init);
    }
    pod.at("spec").as_object()["initContainers"] = std::move(inits);
    this->create(std::move(pod));
    const Pod running = this->wait_phase("p", "Running");
    ASSERT_EQ(running.status.init_container_statuses.size(), 2u);
    EXPECT_EQ(running.status.init_container_statuses[0].name, "first");
    EXPECT_EQ(running.status.init_container_statuses[1].name, "second");
    for (const ContainerStatus& status : running.status.init_container_statuses) {
        ASSERT_TRUE(status.state.terminated);
        EXPECT_EQ(status.state.terminated->exit_code, 0);
        EXPECT_EQ(status.ready, true) << "done is as ready as it gets";
    }
}

REGISTER_TYPED_TEST_SUITE_P(PodRuntimeContract, AWaitingPodIsBoundAndRunsWithAllThatOneLooksFor,
                            TheExitCodeDecidesThePhase, ThePolicySaysWhatIsStartedAgain,
                            TheSecondRestartIsWaitedFor, ADeletedPodShowsItsEndBeforeItGoes,
                            APodThatNeverStartedGoesAtOnce, APodOfTheSameNameIsAnotherPod,
                            AnEndIsTheEnd, InitContainersAreDoneBeforeTheOthersRun);

}  // namespace muster::kube
