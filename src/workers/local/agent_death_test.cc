#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "workers/local/local_workers_fixture.h"

namespace muster::workers::agent_death_test {
namespace {

using namespace std::chrono_literals;

/// What becomes of workers whose agent, a process of its own, is killed or stopped.
class AgentDeathTest : public ::testing::Test {
  protected:
    ~AgentDeathTest() override {
        if (agent_ > 0) end_agent(SIGKILL);
    }
    /// An agent with these workers; returns when they have been started.
    void start_agent(std::vector<launch::WorkerStart> starts) {
        int ready[2];
        ASSERT_EQ(::pipe(ready), 0);
        agent_ = ::fork();
        if (agent_ == 0) {
            auto directory = JobDirectory::claim(world.root(), "job");
            RealLoop loop;
            auto workers = loop.await(LocalWorkers::open(loop.context.get_executor(), loop.clock,
                                                         *std::move(directory), world.options()));
            const auto started = loop.await((*workers)->start(kWorld, std::move(starts)));
            if (::write(ready[1], started ? "y" : "n", 1) != 1) ::_exit(1);
            for (;;) ::pause();
        }
        ::close(ready[1]);
        char answer = 0;
        EXPECT_EQ(::read(ready[0], &answer, 1), 1);
        EXPECT_EQ(answer, 'y');
        ::close(ready[0]);
    }
    /// Waits for so many workers to be seen: a worker counts as started when its program begins to
    /// be executed, and has no environment to be known by for a moment after that.
    std::vector<pid_t> workers_seen(std::size_t count) {
        EXPECT_TRUE(world.eventually([&] { return world.processes().size() == count; }));
        return world.processes();
    }
    void end_agent(int signal) {
        ::kill(agent_, signal);
        ::waitpid(agent_, nullptr, 0);
        agent_ = 0;
    }

    const job_protocol::World kWorld{.generation = {.epoch = 2, .number = 9},
                                     .members = {{.slot = 3,
                                                  .incarnation = "first",
                                                  .address = "10.0.0.3",
                                                  .local_size = 2,
                                                  .first_rank = 6}}};
    // A quarter of what a user gets, so that nothing here waits long.
    LocalWorkersFixture world{{.orphan_grace = 250ms}};
    pid_t agent_ = 0;
};

TEST_F(AgentDeathTest, WorkersEndAfterTheGrace) {
    start_agent({world.shell(0, "trap '' TERM; sleep 1000 & sleep 1000"),
                 world.shell(1, "exec sleep 1000")});
    workers_seen(2);
    const Instant before = world.loop.clock.now();
    end_agent(SIGKILL);
    EXPECT_TRUE(world.eventually([&] { return world.processes().empty(); }));
    const Duration taken = world.loop.clock.now() - before;
    EXPECT_GE(taken, 250ms);
    EXPECT_LT(taken, 2s);
    EXPECT_TRUE(world.eventually([&] { return world.job_directories().empty(); }));
}

TEST_F(AgentDeathTest, ANewAgentTakesThemOver) {
    start_agent({world.shell(0, "while ! [ -e $ROOT/go ]; do sleep 0.01; done; exit 4"),
                 world.shell(1, "exec sleep 1000")});
    end_agent(SIGKILL);
    world.open();
    EXPECT_EQ(world.workers().running(), kWorld);
    // Longer than they run without an agent.
    world.loop.await(world.loop.clock.sleep_for(600ms));
    EXPECT_EQ(world.processes().size(), 2U);
    std::ofstream(world.root() / "go") << "x\n";
    EXPECT_EQ(world.next_end().exit_code, 4);
    world.loop.await(world.workers().stop(1s));
    EXPECT_TRUE(world.processes().empty());
}

TEST_F(AgentDeathTest, AnEndInBetweenIsTold) {
    world.options().orphan_grace = 20s;
    start_agent({world.shell(0, "while ! [ -e $ROOT/go ]; do sleep 0.01; done; exit 4"),
                 world.shell(1, "exec sleep 1000")});
    end_agent(SIGKILL);
    const std::vector<pid_t> both = workers_seen(2);
    std::ofstream(world.root() / "go") << "x\n";
    EXPECT_TRUE(world.eventually([&] { return world.processes().size() == 1; }));
    world.open();
    const WorkerEnd end = world.next_end();
    EXPECT_EQ(end.exit_code, 4);
    EXPECT_EQ(end.generation, kWorld.generation);
    EXPECT_EQ(world.workers().running(), kWorld);
    EXPECT_NE(std::ranges::find(both, end.pid), both.end());
}

TEST_F(AgentDeathTest, ATakenOverWorkerEndsAsAnyOther) {
    start_agent({world.shell(0, "exec sleep 1000"), world.shell(1, "exec sleep 1000")});
    end_agent(SIGKILL);
    world.open();
    const pid_t worker = world.workers().pid_of(1);
    ::kill(worker, SIGSEGV);
    const WorkerEnd end = world.next_end();
    EXPECT_EQ(end.local_rank, 1);
    EXPECT_EQ(end.signal, SIGSEGV);
    EXPECT_EQ(end.pid, worker);
    world.loop.await(world.workers().stop(1s));
    EXPECT_EQ(world.workers().running(), std::nullopt);
    world.must_start({world.shell(0, "exit 0")}, 10);
    EXPECT_EQ(world.next_end().exit_code, 0);
}

TEST_F(AgentDeathTest, AStoppedAgentIsNoDeadOne) {
    start_agent({world.shell(0, "exec sleep 1000"), world.shell(1, "exit 3")});
    ::kill(agent_, SIGSTOP);
    world.loop.await(world.loop.clock.sleep_for(600ms));
    EXPECT_EQ(world.processes().size(), 1U);
}

TEST_F(AgentDeathTest, AnAgentMayGiveItsWorkersToAnother) {
    world.options().orphan_grace = 20s;
    world.must_start({world.shell(0, "exec sleep 1000")}, 5);
    const pid_t worker = world.workers().pid_of(0);
    world.let_go();
    world.open();
    ASSERT_TRUE(world.workers().running());
    EXPECT_EQ(world.workers().running()->generation.number, 5U);
    EXPECT_EQ(world.workers().pid_of(0), worker);
}

TEST_F(AgentDeathTest, WithoutShimsNothingIsTakenOver) {
    start_agent({world.shell(0, "echo $PPID > $ROOT/shim; exec sleep 1000")});
    const pid_t shim = world.pid_in("shim");
    end_agent(SIGKILL);
    ::kill(shim, SIGKILL);
    EXPECT_TRUE(world.eventually([&] { return world.processes().empty(); }));
    world.open();
    EXPECT_EQ(world.workers().running(), std::nullopt);
    world.must_start({world.shell(0, "exit 0")});
    EXPECT_EQ(world.next_end().exit_code, 0);
}

TEST_F(AgentDeathTest, TwoJobsInOnePlaceDoNotMeet) {
    std::filesystem::path path;
    {
        const auto one = JobDirectory::claim(world.root(), "job");
        const auto other = JobDirectory::claim(world.root(), "other job");
        const auto second_agent = JobDirectory::claim(world.root(), "job");
        ASSERT_TRUE(one && other && second_agent);
        EXPECT_NE(one->path(), other->path());
        EXPECT_NE(one->path(), second_agent->path());
        path = one->path();
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(AgentDeathTest, WhatAKilledAgentLeftIsItsSuccessors) {
    std::filesystem::path path;
    {
        const auto killed = JobDirectory::claim(world.root(), "job");
        ASSERT_TRUE(killed) << killed.error().message();
        path = killed->path();
        std::ofstream(path / "shim") << "a socket\n";
    }
    EXPECT_EQ(JobDirectory::claim(world.root(), "job")->path(), path);
    EXPECT_NE(JobDirectory::claim(world.root(), "other job")->path(), path);
    std::filesystem::remove_all(path);
}

/// The names that an agent looks at are known; who takes one of them takes nothing from the agent.
TEST_F(AgentDeathTest, APlaceThatIsNotItsAloneIsPassedOver) {
    std::string name;
    {
        const auto first = JobDirectory::claim(world.root(), "job");
        ASSERT_TRUE(first) << first.error().message();
        name = first->path().string();
        name.resize(name.rfind('-') + 1);
    }
    std::filesystem::create_directory(name + "0");
    std::filesystem::permissions(name + "0", std::filesystem::perms(0755));
    std::ofstream(name + "1") << "a file\n";
    std::filesystem::create_directory(world.root() / "elsewhere");
    std::filesystem::permissions(world.root() / "elsewhere", std::filesystem::perms(0700));
    std::filesystem::create_directory_symlink(world.root() / "elsewhere", name + "2");
    const auto claimed = JobDirectory::claim(world.root(), "job");
    ASSERT_TRUE(claimed) << claimed.error().message();
    for (const char* taken : {"0", "1", "2"}) EXPECT_NE(claimed->path(), name + taken);
    for (const char* made : {"0", "1", "2"}) std::filesystem::remove(name + made);
    std::filesystem::remove(world.root() / "elsewhere");
}

}  // namespace
}  // namespace muster::workers::agent_death_test
