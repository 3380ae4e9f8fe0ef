#include "ask_master/membership.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::ask_master::membership_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kConfig =
    R"({"cluster":{"chief":["c:3333"],"ps":["p0:2222","p1:2222"],"worker":["w:3333"]},"task":{}})";

std::vector<std::string> variables(std::string_view type, std::string_view id,
                                   std::string_view rank, std::string_view config = kConfig) {
    return {"DLROVER_MASTER_ADDR=master.ns.svc:50001", "ELASTIC_JOB_NAME=ctr",
            fmt::format("NODE_TYPE={}", type),         fmt::format("NODE_ID={}", id),
            fmt::format("NODE_RANK={}", rank),         "NODE_NUM=2",
            fmt::format("TF_CONFIG={}", config)};
}

TEST(Membership, IsWhatTheVariablesOfThePodSay) {
    const auto server = membership_of(variables("ps", "4", "1"));
    ASSERT_TRUE(server) << server.error().message();
    EXPECT_EQ(server->master, (launch::Endpoint{"master.ns.svc", 50001}));
    EXPECT_EQ(server->token, "run ctr");
    EXPECT_EQ(server->about, "ps 1 of ctr");
    EXPECT_EQ(server->attendance, (job_protocol::PsAttendance{.type = "ps",
                                                              .id = 4,
                                                              .rank = 1,
                                                              .address = "p1:2222",
                                                              .servers = 2,
                                                              .places = 2,
                                                              .versions = {}}));
}

TEST(Membership, TheChiefIsTheFirstOfThoseWhoMeet) {
    const auto place = [](std::string_view type, std::string_view config = kConfig) {
        return membership_of(variables(type, "0", "0", config))->attendance.place;
    };
    EXPECT_EQ(place("chief"), 0);
    EXPECT_EQ(place("worker"), 1);
    EXPECT_EQ(place("worker", R"({"cluster":{"worker":["w:3333"]}})"), 0);
    EXPECT_EQ(place("worker", ""), 0);
    EXPECT_EQ(place("ps"), std::nullopt);
    EXPECT_EQ(place("evaluator"), std::nullopt);
}

TEST(Membership, WhatAContainersFirstCommandStartsIsPartOfIt) {
    auto all = variables("ps", "0", "0");
    EXPECT_EQ(membership_of(all)->attendance.container, "");
    starts_container(all, "one");
    EXPECT_EQ(membership_of(all)->attendance.container, "one");
    starts_container(all, "two");
    EXPECT_EQ(membership_of(all)->attendance.container, "one") << "it is in the first";
}

TEST(Membership, TheTokenIsTheJobs) {
    auto all = variables("worker", "0", "0");
    all.emplace_back("MUSTER_TOKEN=secret\n");
    EXPECT_EQ(membership_of(all)->token, "secret");
}

TEST(Membership, WhatIsMissingOrWrongIsNamed) {
    const auto refused = [](std::vector<std::string> all) {
        const auto made = membership_of(all);
        return made ? std::string("taken") : made.error().message();
    };
    EXPECT_THAT(refused({}), HasSubstr("DLROVER_MASTER_ADDR is not set"));
    EXPECT_THAT(refused({"DLROVER_MASTER_ADDR=a b", "NODE_TYPE=ps"}),
                HasSubstr("DLROVER_MASTER_ADDR=a b"));
    EXPECT_THAT(refused({"DLROVER_MASTER_ADDR=m:1"}), HasSubstr("NODE_TYPE is not set"));
    EXPECT_THAT(refused(variables("worker", "x", "0")), HasSubstr("NODE_ID=x"));
    EXPECT_THAT(refused(variables("worker", "0", "-1")), HasSubstr("NODE_RANK=-1"));
    EXPECT_THAT(refused(variables("ps", "0", "2")), HasSubstr("no parameter server of rank 2"));
    EXPECT_THAT(refused(variables("ps", "0", "0", "")), HasSubstr("TF_CONFIG="));
    EXPECT_THAT(refused(variables("worker", "0", "0", "{")), HasSubstr("TF_CONFIG={"));
    EXPECT_THAT(refused(variables("worker", "0", "0", "[]")), HasSubstr("\"cluster\""));
}

}  // namespace
}  // namespace muster::ask_master::membership_test
