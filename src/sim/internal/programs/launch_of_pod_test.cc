#include "sim/internal/programs/launch_of_pod.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::sim::launch_of_pod_test {
namespace {

json::value pod(std::string_view command, std::string_view env = "[]") {
    json::value made =
        json::parse(R"({"spec":{"containers":[{"name":"side","image":"a"},{"name":"pytorch"}]}})");
    json::object& container = made.at("spec").at("containers").at(1).get_object();
    container["command"] = json::parse(command);
    container["env"] = json::parse(env);
    return made;
}

TEST(LaunchOfPod, IsWhatTheOperatorPutsIntoItsEnvironment) {
    const auto launched = launch_of_pod(pod(
        R"(["muster-run","train.py"])",
        R"([{"name":"PET_RDZV_ENDPOINT","value":"demo-worker-0:23456"},{"name":"PET_NNODES","value":"1:4"},
                {"name":"PET_NPROC_PER_NODE","value":"2"},{"name":"PET_MAX_RESTARTS","value":"5"}])"));
    ASSERT_TRUE(launched && *launched);
    const launch::LaunchPlan* const plan = &**launched;
    EXPECT_EQ(plan->rendezvous.endpoints.front().text(), "demo-worker-0:23456");
    EXPECT_EQ(plan->nodes, (launch::NodeRange{1, 4}));
    EXPECT_EQ(plan->local_size, 2);
    EXPECT_EQ(plan->max_restarts, 5);
}

TEST(LaunchOfPod, ItsCommandRefersToItsVariables) {
    const auto launched = launch_of_pod(
        pod(R"-(["muster-run","--nnodes=$(NODE_NUM)","--rdzv-id=$$(NODE_NUM)","train.py"])-",
            R"([{"name":"NODE_NUM","value":"3"},{"name":"NODE_RANK","value":"1"},
                {"name":"DLROVER_MASTER_ADDR","value":"elasticjob-j-dlrover-master.default.svc:50001"}])"));
    ASSERT_TRUE(launched && *launched);
    const launch::LaunchPlan* const plan = &**launched;
    EXPECT_EQ(plan->nodes, (launch::NodeRange{3, 3}));
    EXPECT_EQ(plan->rendezvous.where, launch::Rendezvous::Where::kElsewhere);
    EXPECT_EQ(plan->rendezvous.slot, 1);
    EXPECT_EQ(plan->run_id, "$(NODE_NUM)");
}

TEST(LaunchOfPod, ThereIsNoneOfAnotherCommand) {
    for (const char* const command : {R"(["python","train.py"])", R"([])"}) {
        const auto launched = launch_of_pod(pod(command));
        ASSERT_TRUE(launched) << launched.error().message();
        EXPECT_FALSE(*launched) << command;
    }
}

TEST(LaunchOfPod, WhatMusterRunWouldRefuseIsAnError) {
    EXPECT_FALSE(launch_of_pod(pod(R"(["muster-run","--nnodes","3:2","train.py"])")));
}

}  // namespace
}  // namespace muster::sim::launch_of_pod_test
