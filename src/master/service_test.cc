#include "master/service/service.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/test_loop.h"
#include "job_protocol/protocol.h"
#include "master/master.h"
#include "master/memory_records.h"
#include "net/memory_stream.h"
#include "rpc/client.h"
#include "rpc/server.h"

namespace muster::master::service_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// A service that no other file knows: agents add to a sum that outlives their master. It has a
/// call, hears reports and worlds, and holds the first world until it was opened.
class Tally final : public Service {
  public:
    Tally(ServiceContext context, bool is_open, std::vector<std::string>& heard)
        : context_(std::move(context)), is_open_(is_open), heard_(heard) {}

    void serve(rpc::Server& server) override {
        server.on_call("tally",
                       [this](rpc::PeerPtr, std::string amount) { return add(std::move(amount)); });
        server.on_call("open", [this](rpc::PeerPtr, std::string) { return open(); });
    }
    void reported(const std::string& incarnation, const Report& report) override {
        if (report.steps) heard_.push_back(fmt::format("{} made {}", incarnation, *report.steps));
    }
    void lost(const std::string& incarnation) override { heard_.push_back("lost " + incarnation); }
    void world_changed(const World* world, const std::string& why) override {
        heard_.push_back(world == nullptr ? "no world: " + why
                                          : fmt::format("world {}", world->generation.number));
    }
    bool holds_first_world() const override { return !is_open_; }
    std::string why_it_waits() const override { return is_open_ ? "" : "the tally is closed"; }

  private:
    Task<Result<std::string>> add(std::string amount) {
        const std::string before = context_.job.section("tally");
        const std::string sum = before + amount;
        CO_TRY_VOID(context_.job.set_section("tally", sum));
        CO_TRY_VOID(co_await context_.recorded());
        co_return sum;
    }
    Task<Result<std::string>> open() {
        is_open_ = true;
        context_.wake();
        co_return std::string();
    }

    ServiceContext context_;
    bool is_open_;
    std::vector<std::string>& heard_;
};

class ServiceTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    struct Life {
        std::unique_ptr<Master> master;
        net::MemoryListener* listener = nullptr;
        std::optional<Result<Verdict>> ended;
    };

    Life& start_master(bool is_open = true) {
        lives.push_back(std::make_unique<Life>());
        Life& life = *lives.back();
        MasterOptions options{.job = {.membership = {.min_nodes = 1, .max_nodes = 1}},
                              .token = "secret",
                              .name = fmt::format("master {}", lives.size())};
        options.services.push_back([this, is_open](const ServiceContext& given) {
            return std::make_unique<Tally>(given, is_open, heard);
        });
        life.master =
            std::make_unique<Master>(context.get_executor(), clock, records, std::move(options));
        auto listening = std::make_unique<net::MemoryListener>(context.get_executor());
        life.listener = listening.get();
        life.master->listen(std::move(listening));
        tasks.spawn("master", run(life));
        advance(10ms);
        return life;
    }
    static Task<void> run(Life& life) {
        life.ended = co_await life.master->run();
        life.listener = nullptr;
    }
    /// Of an agent; its connection goes to the newest master.
    rpc::Client& client(const std::string& name) {
        clients.push_back(std::make_unique<rpc::Client>(
            [this]() -> Task<Result<std::unique_ptr<net::ByteStream>>> {
                if (lives.back()->listener == nullptr)
                    co_return Error(Code::kUnavailable, "nobody listens");
                co_return lives.back()->listener->connect();
            },
            clock, rng, tasks,
            rpc::Client::Options{.token = "secret", .name = name, .about = name}));
        clients.back()->start();
        return *clients.back();
    }
    void join(rpc::Client& with, const std::string& name) {
        tasks.spawn("agent", follow(with, name, directives));
        advance(10ms);
    }
    static Task<void> follow(rpc::Client& with, std::string name,
                             std::vector<Directive::What>& directives) {
        const Hello hello{.incarnation = name, .slot = {}, .address = name};
        const auto stream =
            co_await rpc::open(with, job_protocol::kJoin, job_protocol::to_wire(hello));
        while (stream) {
            const auto next = co_await (*stream)->next();
            if (!next || !*next) co_return;
            const auto directive = job_protocol::from_wire(**next);
            EXPECT_TRUE(directive);
            if (directive) directives.push_back(directive->what);
        }
    }
    void report(rpc::Client& with, const Report& told) {
        ASSERT_TRUE(await(rpc::tell(with, job_protocol::kReport, job_protocol::to_wire(told))));
        advance(10ms);
    }
    World told() {
        const auto* const run =
            directives.empty() ? nullptr : std::get_if<job_protocol::Run>(&directives.back());
        return run == nullptr ? World() : run->world;
    }
    void TearDown() override {
        await(tasks.stop());
        clients.clear();
        for (const auto& life : lives) await(life->master->stop());
    }

    Rng rng{3};
    TaskGroup tasks{context.get_executor()};
    MemoryRecords records{clock, 1ms};
    std::vector<std::unique_ptr<Life>> lives;
    std::vector<std::unique_ptr<rpc::Client>> clients;
    std::vector<Directive::What> directives;
    std::vector<std::string> heard;
};

TEST_F(ServiceTest, ItsSectionIsOnRecordBeforeItAnswers) {
    start_master();
    rpc::Client& a = client("a");
    EXPECT_EQ(*await(a.call("tally", "I", 1s)), "I");
    EXPECT_EQ(records.kept().sections.at("tally"), "I");
    records.set_time(2s);
    EXPECT_EQ(await(a.call("tally", "I", 1s)).error().code(), Code::kTimeout);
    EXPECT_EQ(*await(a.call("tally", "I", 9s)), "III");
    EXPECT_EQ(records.kept().sections.at("tally"), "III");
}

TEST_F(ServiceTest, TheNextMasterHasItsSection) {
    Life& first = start_master();
    EXPECT_EQ(*await(client("a").call("tally", "II", 1s)), "II");
    await(first.master->stop());
    start_master();
    EXPECT_EQ(*await(client("b").call("tally", "I", 1s)), "III");
    EXPECT_EQ(records.kept().epoch, 2u);
}

TEST_F(ServiceTest, AMasterWhoseEpochIsOverKeepsNothing) {
    Life& life = start_master();
    rpc::Client& a = client("a");
    EXPECT_EQ(*await(a.call("tally", "I", 1s)), "I");
    ASSERT_TRUE(await(records.claim()));
    EXPECT_FALSE(await(a.call("tally", "I", 1s)));
    ASSERT_TRUE(life.ended && !*life.ended);
    EXPECT_EQ(life.ended->error().code(), Code::kConflict);
    EXPECT_EQ(records.kept().sections.at("tally"), "I");
}

TEST_F(ServiceTest, HearsReportsWorldsAndLosses) {
    start_master();
    rpc::Client& a = client("a");
    join(a, "a");
    ASSERT_EQ(told().nodes, 1);
    EXPECT_THAT(heard, ElementsAre("world 1"));
    Report works{.holds = told(), .store_ready = told().generation, .steps = 5};
    report(a, works);
    EXPECT_THAT(heard, ElementsAre("world 1", "a made 5"));
    works.leaving = "it is taken away";
    report(a, works);
    EXPECT_THAT(heard, ElementsAre("world 1", "a made 5", "lost a", StartsWith("no world: ")));
}

TEST_F(ServiceTest, HoldsTheFirstWorldAsLongAsItWants) {
    start_master(false);
    rpc::Client& a = client("a");
    join(a, "a");
    advance(1min);
    ASSERT_THAT(directives, testing::Not(IsEmpty()));
    const Wait* const wait = std::get_if<Wait>(&directives.back());
    ASSERT_TRUE(wait);
    EXPECT_THAT(wait->text, HasSubstr("the tally is closed"));
    EXPECT_THAT(heard, IsEmpty());
    ASSERT_TRUE(await(a.call("open", "", 1s)));
    advance(10ms);
    EXPECT_THAT(heard, ElementsAre("world 1"));
    EXPECT_EQ(told().nodes, 1);
}

TEST_F(ServiceTest, TheEndOfAJobIsFinal) {
    start_master();
    rpc::Client& a = client("a");
    join(a, "a");
    report(a, {.holds = told(), .store_ready = told().generation, .done = true});
    const auto late = await(a.call("tally", "I", 1s));
    EXPECT_FALSE(late);
    EXPECT_THAT(records.kept().sections, IsEmpty());
    EXPECT_TRUE(records.kept().end);
}

}  // namespace
}  // namespace muster::master::service_test
