#include "muster_run/hosting/master_seat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "base/test_loop.h"
#include "net/memory_stream.h"

namespace muster::run::master_seat_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

/// Of a node with masters' records in a directory; "elsewhere" is a listener of the test's own.
class MasterSeatTest : public ::testing::Test, protected RealLoop {
  protected:
    MasterSeat& seat(std::vector<std::size_t> candidates) {
        made = std::make_unique<MasterSeat>(
            clock,
            MasterSeat::Ways{
                .elsewhere = [this] { return connect_elsewhere(); },
                .make = [this](std::optional<std::size_t> endpoint) { return make(endpoint); },
                .ended = [](const Error&) {}},
            TakeoverTurn(std::move(candidates), 1h));
        return *made;
    }
    Task<Result<std::unique_ptr<net::ByteStream>>> connect_elsewhere() {
        co_return elsewhere.connect();
    }
    Result<std::unique_ptr<HostedMaster>> make(std::optional<std::size_t> endpoint) {
        asked.push_back(endpoint);
        if (taken) return std::unique_ptr<HostedMaster>();
        return std::make_unique<HostedMaster>(context.get_executor(), clock, rng, record_in(root),
                                              master::MasterOptions{.token = "secret", .name = ""},
                                              MasterPlace{});
    }
    Code code_of_take_over() {
        const auto connected =
            await(made->take_over(agent, Error(Code::kUnavailable, "nobody is there")));
        return connected ? Code::kInternal : connected.error().code();
    }
    void TearDown() override {
        if (made) await(made->stop());
        made.reset();
        std::filesystem::remove_all(root);
    }

    std::filesystem::path root = [] {
        std::string name = ::testing::TempDir() + "muster-seat-XXXXXX";
        return std::filesystem::path(::mkdtemp(name.data()));
    }();
    Rng rng{5};
    net::MemoryListener elsewhere{context.get_executor()};
    agent::WorkerState agent{{}, std::nullopt, Instant()};
    bool taken = false;  ///< by another agent of this machine
    std::vector<std::optional<std::size_t>> asked;
    std::unique_ptr<MasterSeat> made;
};

TEST_F(MasterSeatTest, AMasterElsewhereIsReachedAndNoneIsMade) {
    EXPECT_TRUE(await(seat({0}).reach()));
    EXPECT_EQ(made->hosted(), nullptr);
}

TEST_F(MasterSeatTest, TakesOverWhenNoneAnswersAndFindsItHereFromThenOn) {
    elsewhere.close();
    EXPECT_FALSE(await(seat({0}).reach()));
    const auto connected =
        await(made->take_over(agent, Error(Code::kUnavailable, "nobody is there")));
    EXPECT_TRUE(connected);
    EXPECT_THAT(asked, ElementsAre(std::optional<std::size_t>(0)));
    EXPECT_TRUE(made->hosted()->running());
    EXPECT_TRUE(await(made->reach())) << "nothing listens elsewhere";
}

TEST_F(MasterSeatTest, TakesNothingOverBeforeItsTurn) {
    for (const std::vector<std::size_t>& candidates :
         {std::vector<std::size_t>{}, std::vector<std::size_t>{1}}) {
        seat(candidates);
        EXPECT_EQ(code_of_take_over(), Code::kUnavailable);
    }
    EXPECT_THAT(asked, IsEmpty());
}

TEST_F(MasterSeatTest, TakesNothingOverWhenTheEndIsKnown) {
    ASSERT_TRUE(agent.ordered({.epoch = 1, .what = job_protocol::Verdict{}}));
    seat({0});
    EXPECT_EQ(code_of_take_over(), Code::kUnavailable);
    EXPECT_THAT(asked, IsEmpty());
}

TEST_F(MasterSeatTest, LeavesTheEndpointToAnotherAgentOfThisMachine) {
    taken = true;
    seat({0});
    EXPECT_EQ(code_of_take_over(), Code::kUnavailable);
    EXPECT_EQ(made->hosted(), nullptr);
}

}  // namespace
}  // namespace muster::run::master_seat_test
