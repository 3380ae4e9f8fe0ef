// A real agent with real workers: when it knows of a death. When its master does is said there.

#include <signal.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>

#include "agent/agent.h"
#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/real_clock.h"
#include "elastic_bench.h"
#include "net/tcp.h"
#include "workers/local/local_workers.h"

namespace muster::elastic {
namespace {

/// Workers of this machine, and a word about each end.
class WatchedWorkers final : public workers::Workers {
  public:
    WatchedWorkers(const asio::any_io_executor& executor, Clock& clock,
                   workers::LocalWorkers& below)
        : clock_(clock), below_(below), changed_(executor) {}

    std::optional<job_protocol::World> running() const override { return below_.running(); }
    Task<Result<void>> start(job_protocol::World world,
                             std::vector<launch::WorkerStart> workers) override {
        auto started = co_await below_.start(std::move(world), std::move(workers));
        all_run_ = started.has_value();
        changed_.notify_all();
        co_return started;
    }
    Task<workers::WorkerEnd> next_end() override {
        workers::WorkerEnd end = co_await below_.next_end();
        report("agent", seconds(clock_.now()));
        co_return end;
    }
    Task<void> stop(Duration grace) override { return below_.stop(grace); }
    std::optional<std::uint64_t> steps() const override { return below_.steps(); }

    Task<void> until_all_run() {
        while (!all_run_) co_await changed_.wait();
    }
    void kill_one() {
        all_run_ = false;
        report("killed", seconds(clock_.now()));
        ::kill(below_.pid_of(1), SIGKILL);
    }

  private:
    Clock& clock_;
    workers::LocalWorkers& below_;
    bool all_run_ = false;
    Signal changed_;
};

Result<std::vector<launch::WorkerStart>> sleepers(const job_protocol::World&,
                                                  const job_protocol::Member&) {
    std::vector<launch::WorkerStart> both;
    for (const int rank : {0, 1})
        both.push_back({.local_rank = rank,
                        .rank = rank,
                        .command = {"/bin/sleep", "100000"},
                        .environment = {{"PATH", "/usr/bin:/bin"}}});
    return both;
}

Task<void> live(agent::Agent& agent) {
    const agent::AgentEnd end = co_await agent.run();
    die("the agent ended: " + end.text);
}

Task<void> kill_and_wait(asio::any_io_executor executor, int port, std::string folder) {
    RealClock clock;
    Rng rng = Rng::from_system();
    auto directory = must(workers::JobDirectory::claim(folder, "bench"), "the job's directory");
    auto local = must(
        co_await workers::LocalWorkers::open(executor, clock, std::move(directory), {}), "workers");
    WatchedWorkers workers(executor, clock, *local);
    agent::AgentOptions options{.token = std::string(kToken),
                                .incarnation = rng.uuid(),
                                .store_port = 29500,
                                .name = "the node"};
    options.workers.local_size = 2;
    agent::Agent agent(executor, clock, rng, workers, std::move(options),
                       {.connect =
                            [&] {
                                return net::connect_tcp(executor, "127.0.0.1",
                                                        static_cast<std::uint16_t>(port));
                            },
                        .make_workers = sleepers,
                        .place = [] { return agent::AgentPlace{.address = "127.0.0.1"}; },
                        .begin_store = [](const job_protocol::World&) {}});
    TaskGroup tasks(executor);
    tasks.spawn("agent", live(agent));
    Commands commands(executor);
    for (;;) {
        co_await workers.until_all_run();
        report("runs", seconds(clock.now()));
        if (co_await commands.next() == '\0') break;
        workers.kill_one();
    }
    co_await tasks.stop();
    co_await local->stop(Duration::zero());
}

}  // namespace

void run_workers(int port, const std::string& folder) {
    asio::io_context context(1);
    TaskGroup tasks(context.get_executor());
    tasks.spawn("workers", kill_and_wait(context.get_executor(), port, folder));
    context.run();
}

}  // namespace muster::elastic
