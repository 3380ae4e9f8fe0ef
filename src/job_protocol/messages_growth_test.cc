#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/test_growth.h"
#include "job_protocol/protocol.h"

// What agents and masters hear from each other.

namespace muster::job_protocol::messages_growth_test {
namespace {

template <class Message>
Message parsed(std::string_view bytes) {
    Message message;
    EXPECT_TRUE(message.ParseFromString(std::string(bytes)));
    return message;
}

std::string many_failures(std::size_t size) {
    Report report;
    for (std::size_t i = 0; i < size; ++i)
        report.evidence.push_back({.node = fmt::format("n{}", i), .error = "ValueError"});
    return to_wire(report).SerializeAsString();
}
std::string a_large_world(std::size_t size) {
    World world;
    for (std::size_t i = 0; i < size; ++i)
        world.members.push_back({.slot = static_cast<Slot>(i),
                                 .incarnation = fmt::format("i{}", i),
                                 .address = "10.0.0.1",
                                 .group_rank = static_cast<int>(i)});
    world.nodes = world.ranks = static_cast<int>(size);
    return to_wire(Report{.holds = world}).SerializeAsString();
}
void report(std::string_view bytes) {
    const Result<Report> read = from_wire(parsed<job::Report>(bytes));
    if (read) (void)to_wire(*read);
}

std::string many_excluded(std::size_t size) {
    JobRecord record{.epoch = 1};
    for (std::size_t i = 0; i < size; ++i) {
        record.excluded.push_back(fmt::format("i{}", i));
        record.sections[fmt::format("s{}", i)] = "x";
    }
    return to_wire(record).SerializeAsString();
}
void record(std::string_view bytes) {
    const Result<JobRecord> read = from_wire(parsed<job::JobRecord>(bytes));
    ASSERT_TRUE(read) << read.error().message();
    (void)to_wire(*read);
}

class MessagesGrowth : public ::testing::TestWithParam<GrowthCase> {};

TEST_P(MessagesGrowth, IsLinear) { EXPECT_LE(growth_of(GetParam()), kLinearGrowth); }

INSTANTIATE_TEST_SUITE_P(
    Shapes, MessagesGrowth,
    ::testing::Values(GrowthCase{"many_failures", many_failures, report, 1'000},
                      GrowthCase{"a_large_world", a_large_world, report, 1'000},
                      GrowthCase{"many_excluded", many_excluded, record, 1'000}),
    ::testing::PrintToStringParamName());

}  // namespace
}  // namespace muster::job_protocol::messages_growth_test
