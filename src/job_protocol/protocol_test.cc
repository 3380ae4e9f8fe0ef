#include "job_protocol/protocol.h"

#include <gtest/gtest.h>

#include <string_view>

namespace muster::job_protocol::protocol_test {
namespace {

using namespace std::chrono_literals;

// What an agent and a master of version 0.1 send: newer ones read it, and say the same.

constexpr std::string_view kJoinBytes(
    "\x0a\x03"
    "a-1\x10\x00\x18\x02\x22\x08"
    "10.0.0.7(\xbc\xe6\x01"
    "2\x01r:\x08worker-0"
    "@\x05J\x85\x01\x0a"
    "B\x0a\x04\x08\x05\x10\x09\x10\x03\x18\x02 \x04*\x15\x12\x03"
    "b"
    "-1\x1a\x08"
    "10.0.0.8 \xbd\xe6\x01(\x02*\x1b\x08\x01\x12\x03"
    "a-1\x1a\x08"
    "10.0.0."
    "7 \xbc\xe6\x01(\x02"
    "0\x02"
    "8\x01"
    "0\x01 \x01*;\x0a\x0dworker-exited\x12\x04\x08"
    "\x05\x10\x09\x18\x03 \x01*\x08"
    "10.0.0.70\x02"
    "8\x01J\x08KeyErrorP\x80\x80\xa8\xb1"
    "\xe3\x9f\xe7\xcb\x17"
    "0\x0cP\xd8\xe5\x01X\x01",
    180);
constexpr std::string_view kDirectiveBytes(
    "\x08\x05\x1a"
    "F\x0a"
    "B\x0a\x04\x08\x05\x10\x09\x10\x03\x18\x02 \x04*\x15\x12\x03"
    "b"
    "-1\x1a\x08"
    "10.0.0.8 \xbd\xe6\x01(\x02*\x1b\x08\x01\x12\x03"
    "a-1\x1a\x08"
    "10.0.0."
    "7 \xbc\xe6\x01(\x02"
    "0\x02"
    "8\x01"
    "0\x01\x10\x04"
    "2\x03why8\xd0\x0fJ-\x08\x05"
    "\x12$\x0a\x06worker\x10\x80\x80\xa8\xb1\xe3\x9f\xe7\xcb\x17\x1a\x04\x08\x05\x10\x09 "
    "\x03*\x08KeyError\x1a\x03"
    "c-1",
    129);
/// A field of a later version.
constexpr std::string_view kLaterBytes("\xfa\x01\x03new", 6);

constexpr WallTime kWhen(std::chrono::seconds(1'700'000'000));

World world() {
    return {.generation = {.epoch = 5, .number = 9},
            .members = {{.slot = 0,
                         .incarnation = "b-1",
                         .address = "10.0.0.8",
                         .local_size = 2,
                         .store_port = 29501},
                        {.slot = 1,
                         .incarnation = "a-1",
                         .address = "10.0.0.7",
                         .local_size = 2,
                         .first_rank = 2,
                         .group_rank = 1,
                         .store_port = 29500}},
            .restarts = 3,
            .nodes = 2,
            .ranks = 4,
            .own_rank = 1};
}

template <class Message>
Message parsed(std::string_view bytes, std::string_view later = {}) {
    Message message;
    EXPECT_TRUE(message.ParseFromString(std::string(bytes) + std::string(later)));
    return message;
}

TEST(Protocol, ANodeMayHaveSomeAddresses) {
    Hello hello{.incarnation = "a", .slot = {}, .address = "10.0.0.7"};
    hello.addresses = {"10.1.0.7", "fd00::7"};
    const auto read = from_wire(to_wire(hello));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->addresses, hello.addresses);
    hello.addresses.resize(65);
    EXPECT_FALSE(from_wire(to_wire(hello)));
}

TEST(Protocol, ANodeMaySayWhereItIs) {
    Hello hello{.incarnation = "a", .slot = {}, .address = "10.0.0.7"};
    hello.pod = "demo-edljob-worker-0";
    hello.host = std::string(253, 'n');
    const auto read = from_wire(to_wire(hello));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->pod, hello.pod);
    EXPECT_EQ(read->host, hello.host);
    hello.host += 'n';
    EXPECT_FALSE(from_wire(to_wire(hello)));
    hello.host.clear();
    hello.pod = std::string(254, 'p');
    EXPECT_FALSE(from_wire(to_wire(hello)));
}

TEST(Protocol, AJoinOfAnotherVersionIsRead) {
    for (const std::string_view later : {std::string_view(), kLaterBytes}) {
        const auto hello = from_wire(parsed<job::Join>(kJoinBytes, later));
        ASSERT_TRUE(hello) << hello.error().message();
        EXPECT_EQ(hello->incarnation, "a-1");
        EXPECT_EQ(hello->slot, 0);
        EXPECT_EQ(hello->local_size, 2);
        EXPECT_EQ(hello->address, "10.0.0.7");
        EXPECT_EQ(hello->store_port, 29500);
        EXPECT_EQ(hello->rack, "r");
        EXPECT_EQ(hello->name, "worker-0");
        EXPECT_EQ(hello->epoch_seen, 5u);
        EXPECT_EQ(hello->check_port, 29400);
        EXPECT_TRUE(hello->can_host_master);
        const Report report{.holds = world(),
                            .done = true,
                            .evidence = {{.kind = FailureKind::kWorkerExited,
                                          .generation = world().generation,
                                          .restarts = 3,
                                          .slot = 1,
                                          .node = "10.0.0.7",
                                          .rank = 2,
                                          .exit_code = 1,
                                          .error = "KeyError",
                                          .when = kWhen}},
                            .steps = 12};
        EXPECT_EQ(hello->report, report);
        EXPECT_EQ(to_wire(*hello).SerializeAsString(), kJoinBytes);
    }
}

TEST(Protocol, ADirectiveOfAnotherVersionIsRead) {
    const JobRecord record{.epoch = 5,
                           .incidents = {{.charge = Charge::kWorker,
                                          .when = kWhen,
                                          .generation = world().generation,
                                          .restarts = 3,
                                          .error = "KeyError"}},
                           .excluded = {"c-1"}};
    for (const std::string_view later : {std::string_view(), kLaterBytes}) {
        const auto directive = from_wire(parsed<job::Directive>(kDirectiveBytes, later));
        ASSERT_TRUE(directive) << directive.error().message();
        EXPECT_EQ(directive->epoch, 5u);
        EXPECT_EQ(directive->what,
                  Directive::What(job_protocol::Run{.world = world(), .most_restarts = 4}));
        EXPECT_EQ(directive->why, "why");
        EXPECT_EQ(directive->grace, 2s);
        ASSERT_TRUE(directive->record);
        EXPECT_EQ(*directive->record, record);
        EXPECT_EQ(to_wire(*directive).SerializeAsString(), kDirectiveBytes);
    }
}

TEST(Protocol, SectionsOfARecordComeBack) {
    const JobRecord record{.epoch = 5,
                           .sections = {{"shards", std::string("\0\xff", 2)}, {"tally", "3"}}};
    const auto back = from_wire(to_wire(record));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, record);
}

TEST(Protocol, WhatMakesNoSenseIsRefused) {
    const auto refuses = [](auto change) {
        auto join = parsed<job::Join>(kJoinBytes);
        change(join);
        const auto hello = from_wire(join);
        return !hello && hello.error().code() == Code::kBadRequest;
    };
    EXPECT_FALSE(refuses([](job::Join&) {}));
    EXPECT_TRUE(refuses([](job::Join& join) { join.clear_incarnation(); }));
    EXPECT_TRUE(refuses([](job::Join& join) { join.set_local_size(0); }));
    EXPECT_TRUE(refuses([](job::Join& join) { join.set_slot(-1); }));
    const auto world_of = [](job::Join& join) { return join.mutable_report()->mutable_holds(); };
    EXPECT_TRUE(refuses([&](job::Join& join) { world_of(join)->clear_members(); }));
    EXPECT_TRUE(refuses([&](job::Join& join) { world_of(join)->set_nodes(1); }));
    EXPECT_TRUE(refuses([&](job::Join& join) { world_of(join)->set_own_rank(2); }));
    EXPECT_TRUE(
        refuses([&](job::Join& join) { world_of(join)->mutable_members(0)->set_group_rank(2); }));
    EXPECT_FALSE(from_wire(job::Directive()));
    EXPECT_FALSE(from_wire(job::JobRecord()));
}

}  // namespace
}  // namespace muster::job_protocol::protocol_test
