#include "muster_run/hosting/hosted_master.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <stdexcept>

#include "base/async/task_fault.h"
#include "base/test_loop.h"
#include "job_protocol/protocol.h"

namespace muster::run::hosted_master_test {
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
Task<void> follow(rpc::Client& client, std::vector<std::uint64_t>& epochs,
                  std::string name = "agent") {
    const job_protocol::Hello hello{.incarnation = name, .slot = {}, .address = name};
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

/// The first claim throws.
class ThrowingRecords final : public master::Records {
  public:
    ThrowingRecords(std::unique_ptr<master::Records> below, int& claims)
        : below_(std::move(below)), claims_(claims) {}

    Task<Result<job_protocol::JobRecord>> claim() override {
        if (++claims_ == 1) throw std::runtime_error("a record's fault");
        return below_->claim();
    }
    Task<Result<void>> write(job_protocol::JobRecord record) override {
        return below_->write(std::move(record));
    }

  private:
    std::unique_ptr<master::Records> below_;
    int& claims_;
};

/// Two masters of one job, each with a record of its own.
class HostedMasterTest : public ::testing::Test, protected RealLoop {
  protected:
    struct Side {
        std::unique_ptr<HostedMaster> master;
        std::optional<Error> ended;
    };
    void make(Side& side, const std::string& name, Side& other,
              std::unique_ptr<net::Listener> listener = nullptr) {
        make(side, record_in(make_directory(name)), other, std::move(listener));
    }
    std::filesystem::path make_directory(const std::string& name) const {
        std::filesystem::create_directory(root / name);
        return root / name;
    }
    void make(Side& side, RecordPlace record, Side& other,
              std::unique_ptr<net::Listener> listener = nullptr) {
        master::MasterOptions options{.token = "secret", .name = ""};
        options.job.membership.rejoin = Duration::zero();
        options.job.membership.min_nodes = options.job.membership.max_nodes = nodes;
        side.master = std::make_unique<HostedMaster>(
            context.get_executor(), clock, rng, std::move(record), std::move(options),
            MasterPlace{.listener = std::move(listener),
                        .others = {[&other] { return connect_to(other.master); }},
                        .ask_others_every = 20ms});
    }
    void start(Side& side, HostedMaster::Start how, std::uint64_t heard) {
        side.master->start(how, {.epoch = heard},
                           [&side](const Error& error) { side.ended = error; });
    }
    /// Of the first master.
    void start_agent() { agent = start_another("agent", epochs); }
    std::unique_ptr<rpc::Client> start_another(const std::string& name,
                                               std::vector<std::uint64_t>& orders) {
        auto made = std::make_unique<rpc::Client>(
            [this] { return connect_to(first.master); }, clock, rng, tasks,
            rpc::Client::Options{.token = "secret", .name = name, .about = "a test"});
        made->start();
        tasks.spawn(name, follow(*made, orders, name));
        return made;
    }
    void TearDown() override {
        await(tasks.stop());
        agent.reset();
        another.reset();
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
    int nodes = 1;
    TaskGroup tasks{context.get_executor()};
    Side first;
    Side second;
    std::unique_ptr<rpc::Client> agent;
    std::unique_ptr<rpc::Client> another;
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
    start_agent();
    run_until([&] { return !epochs.empty(); });
    EXPECT_LT(epochs.front(), kFarAhead);
    start(second, HostedMaster::Start::kTakesOver, kFarAhead);
    run_until([&] { return second.ended && epochs.back() > kFarAhead; });
    EXPECT_EQ(second.ended->code(), Code::kConflict);
    EXPECT_FALSE(first.ended);
    EXPECT_TRUE(first.master->running());
}

TEST_F(HostedMasterTest, AfterAFaultBeforeItHasBegunItBegins) {
    make(first, "first", second);
    {
        const TaskFault fault("master");
        start(first, HostedMaster::Start::kAsFirst, 0);
        run_until([&] { return fault.hits() > 0; });
    }
    run_until([&] { return first.master->job() != nullptr; });
    EXPECT_FALSE(first.ended);
}

TEST_F(HostedMasterTest, AfterAFaultAnotherLifeTakesOver) {
    RecordPlace place = record_in(make_directory("first"));
    int claims = 0;
    place.open = [below = place.open, &claims](std::uint64_t epoch,
                                               std::shared_ptr<const job_protocol::JobRecord> known)
        -> std::unique_ptr<master::Records> {
        return std::make_unique<ThrowingRecords>(below(epoch, std::move(known)), claims);
    };
    make(first, std::move(place), second);
    start(first, HostedMaster::Start::kAsFirst, 0);
    start_agent();
    run_until([&] { return !epochs.empty(); });
    EXPECT_EQ(claims, 2);
    EXPECT_TRUE(first.master->running());
    EXPECT_FALSE(first.ended);
}

TEST_F(HostedMasterTest, AfterAFaultWhileItServesAgentsAnotherLifeTakesOver) {
    nodes = 2;
    make(first, "first", second);
    start(first, HostedMaster::Start::kAsFirst, 0);
    start_agent();
    run_until([&] { return !epochs.empty(); });
    const std::uint64_t before = epochs.back();
    std::vector<std::uint64_t> others;
    {
        const TaskFault fault("decide");
        another = start_another("another", others);
        run_until([&] { return fault.hits() > 0; });
    }
    run_until([&] {
        return epochs.back() > before && !others.empty() && others.back() == epochs.back();
    });
    EXPECT_TRUE(first.master->running());
    EXPECT_FALSE(first.ended);
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
}  // namespace muster::run::hosted_master_test
