#include "sim/internal/programs/master_of_pod.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace muster::sim::master_of_pod_test {
namespace {

json::value pod(std::string_view command) {
    json::value made = json::parse(R"({"spec":{"containers":[{"name":"side"},{"name":"main"}]}})");
    made.at("spec").at("containers").at(1).get_object()["command"] = json::parse(command);
    return made;
}

TEST(MasterOfPod, IsWhatItsCommandSays) {
    const auto told = master_of_pod(
        pod(R"(["muster","master","--job","demo","--records","/r/record","--successor"])"));
    ASSERT_TRUE(told && *told);
    EXPECT_EQ((*told)->job, "demo");
    EXPECT_EQ((*told)->records_file, "/r/record");
    EXPECT_TRUE((*told)->successor);
}

TEST(MasterOfPod, ThereIsNoneOfAnotherCommand) {
    for (const char* const command : {R"(["muster","run","x.yaml"])", R"(["muster"])", R"([])"}) {
        const auto told = master_of_pod(pod(command));
        ASSERT_TRUE(told) << told.error().message();
        EXPECT_FALSE(*told) << command;
    }
}

TEST(MasterOfPod, WhatTheProgramWouldRefuseIsAnError) {
    EXPECT_FALSE(master_of_pod(pod(R"(["muster","master","--job","demo"])")));
}

}  // namespace
}  // namespace muster::sim::master_of_pod_test
