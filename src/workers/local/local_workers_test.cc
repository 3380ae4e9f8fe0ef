#include <gmock/gmock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>

#include "base/async/task_fault.h"
#include "base/async/task_group.h"
#include "base/log.h"
#include "base/time/time_limit.h"
#include "workers/local/local_workers_fixture.h"

namespace muster::workers::local_workers_test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Test;

/// More than a worker needs on a machine that is busy with other things.
constexpr Duration kLong = 60s;

/// Runs forever in a session of its own, without a parent: what a daemon does.
constexpr const char* kDaemon =
    "import os, time\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    if os.fork() == 0:\n"
    "        import signal\n"
    "        signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "        with open(os.environ['ROOT'] + '/new', 'w') as f: f.write(f'{os.getpid()}\\n')\n"
    "        os.rename(os.environ['ROOT'] + '/new', os.environ['ROOT'] + '/daemon')\n"
    "        while True: time.sleep(1000)\n"
    "    os._exit(0)\n"
    "while not os.path.exists(os.environ['ROOT'] + '/daemon'): time.sleep(0.001)\n";

/// The lines that are logged while it lives.
class CapturedLog {
  public:
    CapturedLog() {
        log::set_sink(
            [this](log::Level, std::string_view line) { text_.append(line).append("\n"); });
    }
    ~CapturedLog() { log::set_sink({}); }
    CapturedLog(const CapturedLog&) = delete;
    CapturedLog& operator=(const CapturedLog&) = delete;
    const std::string& text() const { return text_; }

  private:
    std::string text_;
};

class LocalWorkersTest : public Test {
  protected:
    int open_files() const {
        return static_cast<int>(
            std::ranges::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                                  std::filesystem::directory_iterator()));
    }
    Result<void> start(std::vector<launch::WorkerStart> starts) {
        return world.start(std::move(starts));
    }

    LocalWorkersFixture world;
};

TEST_F(LocalWorkersTest, DaemonsOfAWorkerEndWithAStop) {
    world.must_start({world.python(0, std::string(kDaemon) + "time.sleep(1000)\n")});
    const pid_t daemon = world.pid_in("daemon");
    EXPECT_TRUE(world.is_alive(daemon));
    world.loop.await(world.workers().stop(5s));
    EXPECT_FALSE(world.is_alive(daemon));
}

TEST_F(LocalWorkersTest, TheEndOfAWorkerIsSeenAfterAFaultOfWhatWatchesIt) {
    LocalWorkers& workers = world.workers();
    TaskGroup tasks(world.loop.context.get_executor());
    {
        const TaskFault fault("worker");
        tasks.spawn("start", [](LocalWorkers& of, launch::WorkerStart one) -> Task<void> {
            std::vector<launch::WorkerStart> starts;
            starts.push_back(std::move(one));
            (void)co_await of.start({.generation = {.epoch = 1, .number = 1}, .members = {{}}},
                                    std::move(starts));
        }(workers, world.shell(0, "exit 3")));
        world.loop.run_until([&] { return fault.hits() > 0; });
    }
    world.loop.await(tasks.join());
    EXPECT_EQ(world.next_end().exit_code, 3);
}

TEST_F(LocalWorkersTest, WhatADeadWorkerLeavesIsKilledAtOnce) {
    world.must_start({world.python(0, std::string(kDaemon) + "os._exit(3)\n")});
    const pid_t daemon = world.pid_in("daemon");
    EXPECT_EQ(world.next_end().exit_code, 3);
    EXPECT_TRUE(world.eventually([&] { return !world.is_alive(daemon); }));
}

TEST_F(LocalWorkersTest, WhatAFinishedWorkerLeavesHasTimeUntilTheGraceIsOver) {
    CapturedLog log;
    world.must_start({world.python(0, std::string(kDaemon) + "os._exit(0)\n")});
    const pid_t daemon = world.pid_in("daemon");
    EXPECT_EQ(world.next_end().exit_code, 0);
    EXPECT_TRUE(world.is_alive(daemon));
    world.loop.await(world.workers().stop(200ms));
    EXPECT_FALSE(world.is_alive(daemon));
    EXPECT_THAT(log.text(), HasSubstr("has not finished in time: SIGKILL is sent to it"));
    EXPECT_THAT(log.text(), HasSubstr(fmt::format("pid {} (/usr/bin/python3 -c", daemon)));
}

TEST_F(LocalWorkersTest, WhatAFinishedWorkerLeavesMayFinish) {
    world.must_start({world.shell(0,
                                  "setsid sh -c 'trap \"\" TERM; while [ ! -e $ROOT/go ]; do sleep "
                                  "0.01; done; echo all > $ROOT/uploaded' & exit 0")});
    EXPECT_EQ(world.next_end().exit_code, 0);
    TaskGroup tasks(world.loop.context.get_executor());
    bool stopped = false;
    tasks.spawn("stop", [](LocalWorkers& workers, bool& done) -> Task<void> {
        co_await workers.stop(std::chrono::minutes(1));
        done = true;
    }(world.workers(), stopped));
    world.loop.settle();
    EXPECT_FALSE(stopped);
    std::ofstream(world.root() / "go") << "";
    world.loop.await(tasks.join());
    EXPECT_TRUE(stopped);
    EXPECT_EQ(world.content(world.root() / "uploaded"), "all\n");
}

TEST_F(LocalWorkersTest, TheGraceOfAStopCanBeEnded) {
    CapturedLog log;
    world.must_start(
        {world.shell(0, "trap '' TERM; echo $$ > $ROOT/pid; while :; do sleep 1; done")});
    const pid_t pid = world.pid_in("pid");
    TaskGroup tasks(world.loop.context.get_executor());
    tasks.spawn("stop", [](LocalWorkers& workers) -> Task<void> {
        co_await workers.stop(std::chrono::hours(1));
    }(world.workers()));
    tasks.spawn("hurry", [](LocalWorkers& workers) -> Task<void> {
        workers.hurry();
        co_return;
    }(world.workers()));
    EXPECT_EQ(world.workers().still_there(), fmt::format("rank 0 (pid {})", pid));
    world.loop.await(tasks.join());
    EXPECT_FALSE(world.is_alive(pid));
    EXPECT_EQ(world.workers().still_there(), "");
    EXPECT_THAT(log.text(), HasSubstr("a worker has not ended in time: SIGKILL is sent to it"));
}

TEST_F(LocalWorkersTest, AnotherSignalCanAskThemToEnd) {
    world.must_start(
        {world.python(0,
                      "import os, time\n"
                      "def tell(what):\n"
                      "    with open(os.environ['ROOT'] + '/said', 'a') as f: f.write(what)\n"
                      "try:\n"
                      "    tell('running\\n')\n"
                      "    while True: time.sleep(1000)\n"
                      "except KeyboardInterrupt: tell('interrupted\\n')\n")});
    EXPECT_EQ(world.line_of("said"), "running");
    world.workers().end_with(SIGINT);
    world.loop.await(world.workers().stop(kLong));
    EXPECT_EQ(world.content(world.root() / "said"), "running\ninterrupted\n");
}

TEST_F(LocalWorkersTest, WhatIsIgnoredAtTheStartStaysIgnored) {
    struct sigaction ignore{};
    struct sigaction before{};
    ignore.sa_handler = SIG_IGN;
    ASSERT_EQ(::sigaction(SIGHUP, &ignore, &before), 0);
    world.must_start({world.python(0,
                                   "import signal\n"
                                   "assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN\n"
                                   "assert signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL\n")});
    ::sigaction(SIGHUP, &before, nullptr);
    EXPECT_EQ(world.next_end().exit_code, 0);
}

/// Of a worker that lives.
std::string limit_of_core_dumps(pid_t worker) {
    const std::string limits = LocalWorkersFixture::content(fmt::format("/proc/{}/limits", worker));
    constexpr std::string_view kName = "Max core file size";
    const std::size_t line = limits.find(kName);
    if (line == limits.npos) return {};
    const std::size_t value = limits.find_first_not_of(' ', line + kName.size());
    return limits.substr(value, limits.find(' ', value) - value);
}

TEST_F(LocalWorkersTest, WorkersMayDumpTheirCoreWhereTheirAgentMayNot) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_CORE, &before), 0);
    constexpr rlim_t kSize = 4096;
    if (before.rlim_max < kSize) GTEST_SKIP() << "core dumps are forbidden here";
    rlimit none = before;
    none.rlim_cur = 1;
    ASSERT_EQ(::setrlimit(RLIMIT_CORE, &none), 0);
    world.options().core_bytes = kSize;
    world.must_start({world.shell(0, "exec sleep 1000")});
    EXPECT_EQ(limit_of_core_dumps(world.workers().pid_of(0)), "4096");
    EXPECT_EQ(limit_of_core_dumps(::getpid()), "1");
    ::setrlimit(RLIMIT_CORE, &before);
}

TEST_F(LocalWorkersTest, TheInputGoesToLocalRank0) {
    std::ofstream(world.root() / "input") << "one\ntwo\n";
    const UniqueFd input(::open((world.root() / "input").c_str(), O_RDONLY | O_CLOEXEC));
    world.options().input = input.get();
    world.must_start({world.shell(0, "read word; echo $word > $ROOT/said0"),
                      world.shell(1, "read word; echo none:$word > $ROOT/said1")});
    EXPECT_EQ(world.line_of("said0"), "one");
    EXPECT_EQ(world.line_of("said1"), "none:");
}

constexpr const char* kRecordError =
    "def record(what):\n"
    "    import json, os\n"
    "    with open(os.environ['TORCHELASTIC_ERROR_FILE'], 'w') as f:\n"
    "        json.dump({'message': {'message': what}}, f)\n";

TEST_F(LocalWorkersTest, HowWorkersFailDuringAStopIsKept) {
    const std::string ready =
        "open(__import__('os').environ['ROOT'] + '/ready', 'a').write('x\\n')\n";
    world.must_start({world.shell(0, "exec sleep 1000"),
                      world.python(1, kRecordError +
                                          std::string("import json, signal, os, time\n"
                                                      "def end(*_):\n"
                                                      "    record('ValueError: no such column')\n"
                                                      "    os._exit(1)\n"
                                                      "signal.signal(signal.SIGTERM, end)\n") +
                                          ready + "time.sleep(1000)\n"),
                      world.shell(2, "exit 7")});
    world.line_of("ready");
    // Rank 2 has ended before, but no one has asked.
    EXPECT_TRUE(world.eventually([&] { return world.workers().pid_of(2) == 0; }));
    world.loop.await(world.workers().stop(kLong));
    std::vector<Failure> late = world.workers().late_failures();
    std::ranges::sort(late, {}, [](const Failure& one) { return one.end.rank; });
    // Rank 0 was ended by the stop.
    ASSERT_THAT(late, ElementsAre(Field("end", &Failure::end, Field("rank", &WorkerEnd::rank, 1)),
                                  Field("end", &Failure::end, Field("rank", &WorkerEnd::rank, 2))));
    EXPECT_EQ(late[0].end.error, "ValueError: no such column");
    EXPECT_THAT(late[0].content, HasSubstr("no such column"));
    EXPECT_EQ(late[1].end.exit_code, 7);
}

// Each process forks another and ends: killing the processes that were just seen kills nothing.
TEST_F(LocalWorkersTest, ARelayOfForksEnds) {
    world.must_start({world.python(0,
                                   "import os\n"
                                   "for i in range(4):\n"
                                   "    if os.fork() == 0: break\n"
                                   "while True:\n"
                                   "    if os.fork() != 0: os._exit(0)\n")});
    world.loop.await(world.workers().stop(Duration(0)));
    EXPECT_TRUE(world.processes().empty());
}

TEST_F(LocalWorkersTest, AStoppedWorkerEnds) {
    world.must_start({world.shell(0, "echo $$ > $ROOT/pid; kill -STOP $$")});
    world.pid_in("pid");
    world.loop.await(world.workers().stop(50ms));
    EXPECT_TRUE(world.processes().empty());
}

TEST_F(LocalWorkersTest, WhatCantBeStartedIsNamedBeforeAnythingRuns) {
    const auto file = [&](const std::string& name, const std::string& text, mode_t mode) {
        const std::string path = world.root() / name;
        std::ofstream(path) << text;
        ::chmod(path.c_str(), mode);
        return path;
    };
    const struct {
        std::string program;
        std::string expected;
    } cases[] = {
        {"no-such-program", "worker 1 (local rank 1) can't be started: PATH has no program"},
        {"/no/such/train.sh", "/no/such/train.sh does not exist"},
        {file("plain", "#!/bin/sh\n", 0644), "plain can't be executed: make it executable"},
        {file("lost", "#!/no/such/shell\n", 0755), "the interpreter /no/such/shell of"},
        {"/tmp", "/tmp is a directory"},
        // Only the kernel sees what it is.
        {file("words", "words\n", 0755), "words is not a program for this machine"},
    };
    for (const auto& [program, expected] : cases) {
        const auto started = start(
            {world.shell(0, "echo x > $ROOT/started; sleep 1000"), world.worker(1, {program})});
        ASSERT_FALSE(started) << program;
        EXPECT_NE(started.error().message().find(expected), std::string::npos)
            << started.error().message();
        EXPECT_TRUE(world.processes().empty());
        if (program != cases[5].program)
            EXPECT_FALSE(std::filesystem::exists(world.root() / "started")) << program;
    }
}

TEST_F(LocalWorkersTest, AWorkerHasAnEmptyInputAndASessionOfItsOwn) {
    world.must_start(
        {world.python(0,
                      "import os, sys\n"
                      "assert sys.stdin.read() == ''\n"
                      "assert os.getsid(0) == os.getpid() == os.getpgid(0)\n"
                      "fds = sorted(map(int, os.listdir('/proc/self/fd')))\n"
                      "assert fds[:3] == [0, 1, 2] and len(fds) == 4, fds\n"
                      "import signal\n"
                      "assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL\n"
                      "assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == set()\n")});
    EXPECT_EQ(world.next_end().exit_code, 0);
}

TEST_F(LocalWorkersTest, AKilledShimTakesItsWorkerAlong) {
    world.must_start({world.python(0, std::string(kDaemon) +
                                          "with open(os.environ['ROOT'] + '/pids', 'w') as f:\n"
                                          "    f.write(f'{os.getppid()}\\n')\n"
                                          "time.sleep(1000)\n")});
    const pid_t shim = world.pid_in("pids");
    const pid_t daemon = world.pid_in("daemon");
    ::kill(shim, SIGKILL);
    const WorkerEnd end = world.next_end();
    EXPECT_EQ(end.signal, SIGKILL);
    EXPECT_EQ(end.error, "it was killed together with its shim");
    EXPECT_FALSE(world.is_alive(daemon));
    world.loop.await(world.workers().stop(1s));
    EXPECT_TRUE(world.processes().empty());
}

// What is dying has no environment that tells whose it is, and holds its ports and files until its
// memory is given back.
TEST_F(LocalWorkersTest, WhatDiesSlowlyIsWaitedForWhenAShimIsKilled) {
    world.must_start({world.python(0, "held = b'x' * (256 << 20)\n" + std::string(kDaemon) +
                                          "with open(os.environ['ROOT'] + '/pids', 'w') as f:\n"
                                          "    f.write(f'{os.getppid()}\\n')\n"
                                          "os.execv('/bin/sleep', ['sleep', '1000'])\n")});
    const pid_t shim = world.pid_in("pids");
    const pid_t daemon = world.pid_in("daemon");
    ::kill(shim, SIGKILL);
    world.next_end();
    EXPECT_FALSE(world.is_alive(daemon));
    world.loop.await(world.workers().stop(1s));
}

// It can be found by its group alone.
TEST_F(LocalWorkersTest, WhatHidesItsEnvironmentEndsWithAKilledShim) {
    world.must_start({world.shell(0,
                                  "(trap '' HUP; exec env -i /bin/sh -c 'echo $$ > '$ROOT'/hidden; "
                                  "exec sleep 1000') & echo $PPID > $ROOT/pids; wait")});
    const pid_t shim = world.pid_in("pids");
    const pid_t hidden = world.pid_in("hidden");
    const std::string group = world.content(fmt::format("/proc/{}/cgroup", hidden));
    if (group.find("/muster-") == group.npos) GTEST_SKIP() << "no cgroup may be made here";
    ::kill(shim, SIGKILL);
    world.next_end();
    EXPECT_TRUE(world.eventually([&] { return !world.is_alive(hidden); }));
    world.loop.await(world.workers().stop(1s));
}

TEST_F(LocalWorkersTest, AStoppedShimIsWoken) {
    world.must_start(
        {world.shell(0, "echo $PPID $$ > $ROOT/pids; read x < $ROOT/pids; exec sleep 1000")});
    int shim = 0;
    int worker = 0;
    std::istringstream(world.line_of("pids")) >> shim >> worker;
    ::kill(shim, SIGSTOP);
    ::kill(worker, SIGKILL);
    EXPECT_EQ(world.next_end().signal, SIGKILL);
}

TEST_F(LocalWorkersTest, ManySetsLeaveNothing) {
    const auto round = [&](std::uint64_t number) {
        world.must_start({world.shell(0, "exec sleep 1000"), world.shell(1, "sleep 1000 & exit 1")},
                         number);
        EXPECT_EQ(world.next_end().rank, 1);
        world.loop.await(world.workers().stop(5s));
    };
    // Other tests' processes may have come to us, as a subreaper.
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    round(1);
    const int files = open_files();
    for (std::uint64_t number = 2; number <= 200; ++number) round(number);
    EXPECT_EQ(open_files(), files);
    EXPECT_TRUE(world.processes().empty());
    ASSERT_EQ(world.job_directories().size(), 1U);
    for (const auto& entry : std::filesystem::directory_iterator(world.job_directories()[0]))
        EXPECT_EQ(entry.path().filename(), kJobMarker);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // no child, no zombie
}

TEST_F(LocalWorkersTest, ADeathIsKnownSoon) {
    std::vector<double> times;
    for (std::uint64_t number = 1; number <= 20; ++number) {
        world.must_start({world.shell(0, "exec sleep 1000"), world.shell(1, "exec sleep 1000")},
                         number);
        const Instant before = world.loop.clock.now();
        ::kill(world.workers().pid_of(1), SIGKILL);
        EXPECT_EQ(world.next_end().rank, 1);
        times.push_back(
            std::chrono::duration<double, std::milli>(world.loop.clock.now() - before).count());
        world.loop.await(world.workers().stop(Duration(0)));
    }
    std::ranges::sort(times);
    std::printf("a death is known after %.2f ms (median), %.2f ms (longest of 20)\n", times[10],
                times.back());
    EXPECT_LT(times[10], 10);
}

TEST_F(LocalWorkersTest, WorkersAreBoundToProcessors) {
    if (launch::allowed_cpus().size() < 2) GTEST_SKIP() << "one processor";
    world.close();
    world.options().placement = {.binding = launch::NumaBinding::kExclusive};
    const std::string script =
        "import os\n"
        "with open(os.environ['ROOT'] + '/cpus' + os.environ['LOCAL_RANK'], 'w') as f:\n"
        "    f.write(','.join(map(str, sorted(os.sched_getaffinity(0)))) + '\\n')\n";
    world.must_start({world.python(0, script), world.python(1, script)});
    EXPECT_EQ(world.next_end().exit_code, 0);
    EXPECT_EQ(world.next_end().exit_code, 0);
    const auto first = launch::parse_cpu_list(world.line_of("cpus0"));
    const auto second = launch::parse_cpu_list(world.line_of("cpus1"));
    EXPECT_FALSE(first.empty() || second.empty());
    EXPECT_TRUE(std::ranges::none_of(first, [&](auto cpu) { return second.contains(cpu); }));
}

TEST_F(LocalWorkersTest, AWorkerMayHaveCpusOfItsOwn) {
    const std::set<std::uint32_t> allowed = launch::allowed_cpus();
    launch::WorkerStart bound =
        world.python(0,
                     "import os\n"
                     "with open(os.environ['ROOT'] + '/cpus', 'w') as f:\n"
                     "    f.write(','.join(map(str, sorted(os.sched_getaffinity(0)))) + '\\n')\n");
    bound.cpus = {*allowed.rbegin()};
    world.must_start({bound});
    EXPECT_EQ(world.next_end().exit_code, 0);
    EXPECT_EQ(world.line_of("cpus"), std::to_string(*allowed.rbegin()));
}

TEST_F(LocalWorkersTest, AnErrorFileIsRead) {
    const std::string record =
        "import json, os, time\n"
        "with open(os.environ['TORCHELASTIC_ERROR_FILE'], 'w') as f:\n"
        "    json.dump({'message': {'message': 'ValueError: no such column', 'extraInfo':\n"
        "        {'py_callstack': 'Traceback', 'timestamp': str(int(time.time()))}}}, f)\n"
        "raise SystemExit(1)\n";
    world.must_start({world.python(0, record),
                      world.shell(1, "printf '{\"mess' > $TORCHELASTIC_ERROR_FILE; exit 2")});
    std::vector<WorkerEnd> ends{world.next_end(), world.next_end()};
    std::ranges::sort(ends, {}, &WorkerEnd::rank);
    EXPECT_EQ(ends[0].error, "ValueError: no such column");
    EXPECT_TRUE(std::filesystem::exists(ends[0].error_file));
    EXPECT_LT(std::chrono::abs(world.loop.clock.wall_now() - ends[0].when), 10s);
    EXPECT_NE(ends[1].error.find("was cut off"), std::string::npos) << ends[1].error;
}

TEST_F(LocalWorkersTest, TorchsOwnRecordIsUnderstood) {
    if (std::system("/usr/bin/python3 -c 'import torch' 2>/dev/null") != 0)
        GTEST_SKIP() << "no torch for /usr/bin/python3";
    world.must_start(
        {world.python(0,
                      "from torch.distributed.elastic.multiprocessing.errors import record\n"
                      "@record\n"
                      "def main(): raise KeyError('loss')\n"
                      "main()\n")});
    const WorkerEnd end = world.next_end();
    EXPECT_EQ(end.exit_code, 1);
    EXPECT_EQ(end.error, "KeyError: 'loss'");
}

}  // namespace
}  // namespace muster::workers::local_workers_test
