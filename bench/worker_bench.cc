// Real workers without a job: how soon an agent hears of a death, how long a set takes to start and
// to stop, and what the agent and its shims weigh. worker_bench [ROUNDS]; prints "name value unit".

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/time/real_clock.h"
#include "process/process_tree.h"
#include "workers/local/local_workers.h"

using namespace muster;

namespace {

double ms(Duration time) { return std::chrono::duration<double, std::milli>(time).count(); }

void tell(const char* what, std::vector<double> values) {
    std::ranges::sort(values);
    std::printf("%s_ms_median %.3f\n%s_ms_max %.3f\n", what, values[values.size() / 2], what,
                values.back());
}

std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Kilobytes in memory, its own and those shared with others.
long resident(pid_t pid) {
    const std::string status = content(fmt::format("/proc/{}/status", pid));
    const std::size_t at = status.find("VmRSS:");
    return at == status.npos ? 0 : std::atol(status.c_str() + at + 6);
}

launch::WorkerStart sleeper(int rank) {
    return {.local_rank = rank,
            .rank = rank,
            .command = {"/bin/sleep", "100000"},
            .environment = {{"PATH", "/usr/bin:/bin"}, {"TORCHELASTIC_RUN_ID", "bench"}}};
}

job_protocol::World world_of(std::uint64_t number) {
    return {
        .generation = {.epoch = 1, .number = number},
        .members = {{.slot = 0, .incarnation = "bench", .address = "127.0.0.1", .local_size = 2}}};
}

Task<void> measure(asio::any_io_executor executor, Clock& clock, std::filesystem::path root,
                   int rounds, int& failed) {
    auto directory = workers::JobDirectory::claim(root, "bench");
    auto opened = co_await workers::LocalWorkers::open(executor, clock, *std::move(directory), {});
    if (!opened) {
        std::fprintf(stderr, "worker_bench: %s\n", opened.error().message().c_str());
        failed = 1;
        co_return;
    }
    workers::LocalWorkers& workers = **opened;
    std::vector<double> deaths;
    std::vector<double> starts;
    std::vector<double> stops;
    for (int round = 0; round < rounds; ++round) {
        const Instant begin = clock.now();
        std::vector<launch::WorkerStart> both;
        both.push_back(sleeper(0));
        both.push_back(sleeper(1));
        const Result<void> started = co_await workers.start(
            world_of(static_cast<std::uint64_t>(round) + 1), std::move(both));
        if (!started) {
            std::fprintf(stderr, "worker_bench: %s\n", started.error().message().c_str());
            failed = 1;
            co_return;
        }
        starts.push_back(ms(clock.now() - begin));
        if (round == 0) {
            long shims = 0;
            int count = 0;
            for (const pid_t pid : process::descendants_of(::getpid()))
                if (content(fmt::format("/proc/{}/comm", pid)) == "muster-shim\n") {
                    shims += resident(pid);
                    ++count;
                }
            std::printf("agent_rss_kb %ld\nshims %d\nshims_rss_kb %ld\n", resident(::getpid()),
                        count, shims);
        }
        const Instant killed = clock.now();
        ::kill(workers.pid_of(1), SIGKILL);
        co_await workers.next_end();
        deaths.push_back(ms(clock.now() - killed));
        const Instant stopping = clock.now();
        co_await workers.stop(std::chrono::seconds(5));
        stops.push_back(ms(clock.now() - stopping));
    }
    tell("death_to_agent", std::move(deaths));
    tell("start_of_two", std::move(starts));
    tell("stop_of_two", std::move(stops));
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = std::max(argc > 1 ? std::atoi(argv[1]) : 100, 1);
    std::string name = "/tmp/muster-worker-bench-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) return 1;
    asio::io_context context(1);
    RealClock clock;
    int failed = 0;
    asio::co_spawn(context, measure(context.get_executor(), clock, name, rounds, failed),
                   [](std::exception_ptr thrown) {
                       if (thrown) std::rethrow_exception(thrown);
                   });
    context.run();
    std::filesystem::remove_all(name);
    return failed;
}
