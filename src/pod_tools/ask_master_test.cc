#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "ask_master/asker.h"
#include "base/test_loop.h"
#include "master/master.h"
#include "master/memory_records.h"
#include "net/memory_stream.h"

namespace muster::pod_tools::ask_master_test {
namespace {

using ask_master::Asker;
using ask_master::Membership;

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

/// `muster ask-master` without its process: programs that ask real masters, of which each follows the one before.
class AskerTest : public ::testing::Test, protected SimulatedLoop {
  protected:
    struct Life {
        std::unique_ptr<master::Master> master;
        net::MemoryListener* listener = nullptr;
        std::unique_ptr<TaskGroup> tasks;
    };
    struct Program {
        std::unique_ptr<TaskGroup> tasks;
        std::unique_ptr<Asker> asker;
        std::vector<std::string> said;
    };

    void TearDown() override {
        for (auto& program : programs) await(program->tasks->stop());
        programs.clear();
        end_master();
    }
    void begin_master() {
        life = std::make_unique<Life>();
        life->tasks = std::make_unique<TaskGroup>(context.get_executor());
        master::MasterOptions options{.token = "secret", .name = fmt::format("master {}", ++lives)};
        options.job.terms_of_nodes = true;
        life->master = std::make_unique<master::Master>(context.get_executor(), clock, records,
                                                        std::move(options));
        auto listening = std::make_unique<net::MemoryListener>(context.get_executor());
        life->listener = listening.get();
        life->master->listen(std::move(listening));
        life->tasks->spawn("master", run(*life->master));
        advance(10ms);
    }
    static Task<void> run(master::Master& master) { static_cast<void>(co_await master.run()); }
    /// As if it was killed.
    void end_master() {
        if (!life) return;
        life->listener = nullptr;
        await(life->tasks->stop());
        await(life->master->stop());
        life.reset();
    }

    Program& program(std::string type, std::int32_t rank, std::int32_t id,
                     std::string token = "secret") {
        programs.push_back(std::make_unique<Program>());
        Program& made = *programs.back();
        made.tasks = std::make_unique<TaskGroup>(context.get_executor());
        Membership membership{.master = {},
                              .token = std::move(token),
                              .about = "a test",
                              .attendance = {.type = type, .id = id, .rank = rank, .address = {}}};
        membership.attendance.servers = 1;
        membership.attendance.places = 2;
        if (type == "ps") membership.attendance.address = fmt::format("ps-{}:2222", rank);
        if (type == "chief") membership.attendance.place = 0;
        if (type == "worker") membership.attendance.place = rank + 1;
        made.asker = std::make_unique<Asker>(
            clock, rng, *made.tasks, std::move(membership), [this] { return connect(); },
            Asker::Tell{
                .line = [&made](std::string line) { made.said.push_back(std::move(line)); },
                .trouble = [&made](std::string text) { made.said.push_back("trouble: " + text); }});
        made.asker->start();
        advance(1s);
        return made;
    }
    Task<Result<std::unique_ptr<net::ByteStream>>> connect() {
        if (!life || life->listener == nullptr)
            co_return Error(Code::kUnavailable, "no master listens");
        co_return life->listener->connect();
    }
    void end(Program& program) { await(program.tasks->stop()); }
    /// What it says next.
    std::vector<std::string> ask(Program& of, std::string line, Duration time = 1s) {
        of.said.clear();
        of.asker->take(std::move(line));
        advance(time);
        return std::exchange(of.said, {});
    }

    Rng rng{5};
    master::MemoryRecords records{clock, Duration(0)};
    int lives = 0;
    std::unique_ptr<Life> life;
    std::vector<std::unique_ptr<Program>> programs;
};

constexpr const char* kFirst =
    "{\"cluster\":{\"version\":1,\"servers\":[\"ps-0:2222\"],\"complete\":true}}\n";

TEST_F(AskerTest, AProgramHearsOfTheServersAndOfTheirReplacements) {
    begin_master();
    Program& worker = program("worker", 0, 0);
    Program& server = program("ps", 0, 0);
    EXPECT_THAT(worker.said, Contains(kFirst));
    worker.said.clear();
    end(server);
    program("ps", 0, 1);
    EXPECT_THAT(worker.said, Contains(HasSubstr("\"version\":2,\"servers\":[\"ps-0:2222\"]")));
}

TEST_F(AskerTest, KeysAreSharedAndLostWithTheirMaster) {
    begin_master();
    Program& one = program("chief", 0, 0);
    Program& other = program("worker", 0, 0);
    EXPECT_THAT(ask(one, R"({"id": 1, "ask": "set", "key": "k", "value": "76"})"),
                ElementsAre("{\"id\":1}\n"));
    EXPECT_THAT(ask(other, R"({"id": 2, "ask": "get", "key": "k"})"),
                ElementsAre("{\"id\":2,\"value\":\"76\"}\n"));
    EXPECT_THAT(ask(other, R"({"id": 3, "ask": "wait", "keys": ["late"], "seconds": 2})"),
                IsEmpty());
    end_master();
    advance(100ms);
    begin_master();
    advance(5s);
    EXPECT_THAT(other.said, Contains(HasSubstr("{\"id\":3,\"error\":\"these keys belonged to")));
    EXPECT_THAT(ask(other, R"({"id": 4, "ask": "get", "key": "k"})"),
                ElementsAre("{\"id\":4,\"value\":null}\n"));
    EXPECT_THAT(ask(one, R"({"id": 5, "ask": "get", "key": "k"})"),
                ElementsAre(HasSubstr("\"code\":\"gone\"")));
    EXPECT_THAT(ask(one, R"({"id": 6, "ask": "get", "key": "k"})"),
                ElementsAre("{\"id\":6,\"value\":null}\n"));
}

TEST_F(AskerTest, WhoWaitsAtABarrierWaitsAtTheNextMaster) {
    begin_master();
    Program& chief = program("chief", 0, 0);
    Program& worker = program("worker", 0, 0);
    EXPECT_THAT(ask(chief, R"({"id": 1, "ask": "barrier", "name": "b"})"), IsEmpty());
    end_master();
    begin_master();
    advance(5s);
    EXPECT_THAT(ask(worker, R"({"id": 2, "ask": "barrier", "name": "b"})"),
                Contains("{\"id\":2}\n"));
    EXPECT_THAT(chief.said, Contains("{\"id\":1}\n"));
}

TEST_F(AskerTest, APointThatWasJoinedIsJoinedAtTheNextMaster) {
    begin_master();
    Program& chief = program("chief", 0, 0);
    Program& worker = program("worker", 0, 0);
    EXPECT_THAT(ask(chief, R"({"id": 1, "ask": "join", "name": "p"})"),
                ElementsAre("{\"id\":1,\"yes\":false}\n"));
    end_master();
    begin_master();
    advance(5s);
    EXPECT_THAT(ask(worker, R"({"id": 2, "ask": "join", "name": "p"})"),
                Contains("{\"id\":2,\"yes\":true}\n"));
}

TEST_F(AskerTest, VersionsAreToldToTheNextMaster) {
    begin_master();
    Program& worker = program("worker", 0, 0);
    const auto ask_local = [&](Program& of, int id, std::string more) {
        return ask(of, fmt::format(R"({{"id": {}, "ask": "version", "kind": "local", )"
                                   R"("type": "worker", "rank": 0{}}})",
                                   id, more));
    };
    EXPECT_THAT(ask_local(worker, 1, R"(, "set": 3)"), ElementsAre("{\"id\":1,\"number\":3}\n"));
    EXPECT_THAT(ask(worker, R"({"id": 2, "ask": "version", "kind": "global", "set": 4})"),
                Contains("{\"id\":2,\"number\":4}\n"));
    end_master();
    begin_master();
    advance(5s);
    Program& chief = program("chief", 0, 0);
    EXPECT_THAT(ask_local(chief, 3, ""), ElementsAre("{\"id\":3,\"number\":3}\n"));
    EXPECT_THAT(ask(chief, R"({"id": 4, "ask": "version", "kind": "global"})"),
                Contains("{\"id\":4,\"number\":4}\n"));
}

TEST_F(AskerTest, AServerMeetsNoOne) {
    begin_master();
    Program& server = program("ps", 0, 0);
    EXPECT_THAT(ask(server, R"({"id": 1, "ask": "barrier", "name": "b"})"),
                ElementsAre(HasSubstr("only chief and workers meet")));
}

TEST_F(AskerTest, WithoutAMasterQuestionsEndInTime) {
    Program& worker = program("worker", 0, 0);
    EXPECT_THAT(ask(worker, R"({"id": 1, "ask": "get", "key": "k", "seconds": 2})", 3s),
                Contains(HasSubstr("\"code\":\"timeout\"")));
    advance(10s);
    EXPECT_THAT(worker.said, Contains(HasSubstr("trouble: no master listens")));
}

TEST_F(AskerTest, AWrongTokenIsSaid) {
    begin_master();
    Program& stranger = program("worker", 0, 0, "wrong");
    std::optional<Error> why;
    stranger.tasks->spawn("refused", [](Asker& asker, std::optional<Error>& into) -> Task<void> {
        into = co_await asker.refused();
    }(*stranger.asker, why));
    advance(5s);
    ASSERT_TRUE(why);
    EXPECT_EQ(why->code(), Code::kUnauthorized);
    EXPECT_THAT(ask(stranger, R"({"id": 1, "ask": "get", "key": "k"})"),
                ElementsAre(HasSubstr("\"error\"")));
}

}  // namespace
}  // namespace muster::pod_tools::ask_master_test
