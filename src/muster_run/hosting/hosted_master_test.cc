#include "muster_run/hosting/hosted_master.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/test_loop.h"
#include "job_protocol/protocol.h"

namespace muster::run {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Task<Result<std::unique_ptr<net::ByteStream>>> connect_to(const std::unique_ptr<HostedMaster>& to) {
    if (!to || !to->running()) co_return Error(Code::kUnavailable, "no master is there");
    co_return to->connect();
}

Task<Result<std::unique_ptr<net::ByteStream>>> connect_there(net::MemoryListener& listener,
                                                             int& refused) {
    auto stream = listener.connect();
    refused += stream ? 0 : 1;
    co_return stream;
}

/// Joins again and again, and notes who gives orders.
Task<void> follow(rpc::Client& client, std::vector<std::uint64_t>& epochs) {
    const job_protocol::Hello hello{.incarnation = "agent", .slot = {}, .address = "agent"};
    for (;;) {
        const auto orders =
            co_await rpc::open(client, job_protocol::kJoin, job_protocol::to_wire(hello));
        while (orders) {
            const auto next = co_await (*orders)->next();
            if (!next || !*next) break;
            epochs.push_back((*next)->epoch());
        }
    }
}

/// Two masters of one job, each with a record of its own.
class HostedMasterTest : public ::testing::Test, protected RealLoop {
  protected:
    struct Side {
        std::unique_ptr<HostedMaster> master;
        std::optional<Error> ended;
    };
    void make(Side& side, const std::string& name, Side& other,
              std::unique_ptr<net::Listener> listener = nullptr) {
        std::filesystem::create_directory(root / name);
        master::MasterOptions options{.token = "secret", .name = ""};
        options.job.membership.rejoin = Duration::zero();
        side.master = std::make_unique<HostedMaster>(
            context.get_executor(), clock, rng, record_in(root / name), std::move(options),
            MasterPlace{.listener = std::move(listener),
                        .others = {[&other] { return connect_to(other.master); }},
                        .ask_others_every = 20ms});
    }
    void start(Side& side, HostedMaster::Start how, std::uint64_t heard) {
        side.master->start(how, {.epoch = heard},
                           [&side](const Error& error) { side.ended = error; });
    }
    void TearDown() override {
        await(tasks.stop());
        agent.reset();
        for (Side* side : {&first, &second})
            if (side->master) await(side->master->stop());
        first.master.reset();
        second.master.reset();
        std::filesystem::remove_all(root);
    }

    std::filesystem::path root = [] {
        std::string name = ::testing::TempDir() + "muster-master-XXXXXX";
        return std::filesystem::path(::mkdtemp(name.data()));
    }();
    Rng rng{5};
    TaskGroup tasks{context.get_executor()};
    Side first;
    Side second;
    std::unique_ptr<rpc::Client> agent;
    std::vector<std::uint64_t> epochs;
    int refused = 0;  ///< connections
};

constexpr std::uint64_t kFarAhead = 1ULL << 50;  // of the time in milliseconds

TEST_F(HostedMasterTest, TheOneThatIsOlderGivesWay) {
    make(first, "first", second);
    make(second, "second", first);
    start(first, HostedMaster::Start::kAsFirst, 0);
    start(second, HostedMaster::Start::kTakesOver, kFarAhead);
    run_until([&] { return first.ended.has_value(); });
    EXPECT_EQ(first.ended->code(), Code::kConflict);
    EXPECT_THAT(first.ended->message(), HasSubstr("another master of the job is in charge"));
    EXPECT_FALSE(first.master->running());
    EXPECT_TRUE(second.master->running());
}

TEST_F(HostedMasterTest, TheOneWithTheNodesStaysAndIsTheNewestFromThenOn) {
    make(first, "first", second);
    make(second, "second", first);
    start(first, HostedMaster::Start::kAsFirst, 0);
    agent = std::make_unique<rpc::Client>(
        [this] { return connect_to(first.master); }, clock, rng, tasks,
        rpc::Client::Options{.token = "secret", .name = "agent", .about = "a test"});
    agent->start();
    tasks.spawn("agent", follow(*agent, epochs));
    run_until([&] { return !epochs.empty(); });
    EXPECT_LT(epochs.front(), kFarAhead);
    start(second, HostedMaster::Start::kTakesOver, kFarAhead);
    run_until([&] { return second.ended && epochs.back() > kFarAhead; });
    EXPECT_EQ(second.ended->code(), Code::kConflict);
    EXPECT_FALSE(first.ended);
    EXPECT_TRUE(first.master->running());
}

TEST_F(HostedMasterTest, WhoConnectsBetweenTwoLivesWaitsForTheNext) {
    auto listening = std::make_unique<net::MemoryListener>(context.get_executor());
    net::MemoryListener& listener = *listening;
    make(first, "first", second, std::move(listening));
    make(second, "second", first);
    start(first, HostedMaster::Start::kAsFirst, 0);
    agent = std::make_unique<rpc::Client>(
        [this, &listener] { return connect_there(listener, refused); }, clock, rng, tasks,
        rpc::Client::Options{.token = "secret", .name = "agent", .about = "a test"});
    agent->start();
    tasks.spawn("agent", follow(*agent, epochs));
    run_until([&] { return !epochs.empty(); });
    start(second, HostedMaster::Start::kTakesOver, kFarAhead);
    run_until([&] { return second.ended && epochs.back() > kFarAhead; });
    EXPECT_EQ(refused, 0) << "the endpoint was there all the time";
}

}  // namespace
}  // namespace muster::run
