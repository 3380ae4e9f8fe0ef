#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <filesystem>

#include "base/async/task_fault.h"
#include "base/log.h"
#include "base/test_inputs.h"
#include "workers/local/local_workers_fixture.h"

// Workers of a real Python that begin in spares of the real program.

namespace muster::workers::spares_test {
namespace {

using namespace std::chrono_literals;

/// Says what it is in $ROOT/said-ATTEMPT, and lives until $ROOT/end is there.
constexpr const char* kProgram = R"(
import os, sys
imported = "decimal" in sys.modules
import json, time
with open("/proc/self/cmdline") as file: warm = "zygote" in file.read()
attempt = os.environ["TORCHELASTIC_RESTART_COUNT"]
said = {"pid": os.getpid(), "warm": warm, "imported": imported, "args": sys.argv[1:], "rank": os.environ.get("RANK"),
        "fds": sorted(map(int, os.listdir("/proc/self/fd")))[:-1], "leads": os.getsid(0) == os.getpid(),
        "progress": os.path.getsize(os.environ["MUSTER_PROGRESS"]), "word": os.environ.get("WORD")}
path = os.environ["ROOT"] + "/said-" + attempt + "-" + os.environ["LOCAL_RANK"]
with open(path + ".new", "w") as file: file.write(json.dumps(said) + "\n")
os.rename(path + ".new", path)
print("printed by attempt", attempt)
if "MUSTER_LEARN_MODULES" in os.environ and os.path.exists(os.environ["ROOT"] + "/teach"):
    learnt = os.environ["MUSTER_LEARN_MODULES"]
    with open(learnt + ".new", "w") as file:
        json.dump({"version": 1, "python": sys.version, "modules": ["decimal"]}, file)
    os.replace(learnt + ".new", learnt)
while not os.path.exists(os.environ["ROOT"] + "/end"): time.sleep(0.002)
sys.exit(7)
)";

class SparesTest : public ::testing::Test {
  protected:
    SparesTest() {
        write("train.py", kProgram);
        world.options().spares = SpareOptions{
            .zygote = source_path("python/muster/src/muster/zygote.py"),
            .modules = {"decimal"},
            .imports = world.root() / "learnt.json",
            .patience = 0s,
            .answers = 60s,  // a sanitizer's machine is slow
        };
        log::set_sink(
            [this](log::Level, std::string_view line) { logged += std::string(line) + "\n"; });
    }
    ~SparesTest() override { log::set_sink({}); }

    std::string write(const std::string& name, const std::string& text) {
        std::ofstream(world.root() / name) << text;
        return world.root() / name;
    }
    launch::WorkerStart worker(int attempt, int local_rank = 0) {
        launch::WorkerStart start = world.worker(
            local_rank, {"/usr/bin/python3", "-u", world.root() / "train.py", "--lr", "1"});
        start.spare_words = 3;
        for (auto& [name, value] : start.environment)
            if (name == "TORCHELASTIC_RESTART_COUNT") value = std::to_string(attempt);
        start.environment.emplace_back("RANK", std::to_string(local_rank));
        start.environment.emplace_back("PYTHONPATH", world.root());
        start.environment.emplace_back("PYTHONDONTWRITEBYTECODE", "1");
        return start;
    }
    boost::json::value said(int attempt, int local_rank = 0) {
        return boost::json::parse(world.line_of(fmt::format("said-{}-{}", attempt, local_rank)));
    }
    void start(int attempt, int workers = 1) {
        std::vector<launch::WorkerStart> starts;
        for (int i = 0; i < workers; ++i) starts.push_back(worker(attempt, i));
        world.must_start(std::move(starts), static_cast<std::uint64_t>(attempt) + 1);
    }
    void wait_for_spares(int count) {
        EXPECT_TRUE(world.eventually([&] { return world.workers().spares_ready() == count; }, 60s))
            << logged;
    }
    void stop() { world.loop.await(world.workers().stop(0s)); }
    /// Processes that are no workers.
    std::vector<pid_t> spare_pids(int workers = 1) {
        std::vector<pid_t> found = world.processes();
        for (int i = 0; i < workers; ++i) std::erase(found, world.workers().pid_of(i));
        return found;
    }
    int count_logged(std::string_view text) const {
        int count = 0;
        for (std::size_t at = logged.find(text); at != logged.npos; at = logged.find(text, at + 1))
            ++count;
        return count;
    }

    LocalWorkersFixture world;
    std::string logged;
};

TEST_F(SparesTest, ASecondStartBeginsInTheSpares) {
    start(0, 2);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(said(0, i).at("warm"), false);
    wait_for_spares(2);
    const std::vector<pid_t> spares = spare_pids(2);
    EXPECT_EQ(spares.size(), 2U);
    stop();
    EXPECT_EQ(world.processes().size(), 2U) << "spares live from set to set";
    start(1, 2);
    for (int i = 0; i < 2; ++i) {
        const auto told = said(1, i);
        EXPECT_EQ(told.at("warm"), true);
        EXPECT_EQ(told.at("imported"), true);
        EXPECT_EQ(told.at("args"), boost::json::parse(R"(["--lr", "1"])"));
        EXPECT_EQ(told.at("rank"), boost::json::value(std::to_string(i)));
        EXPECT_EQ(told.at("fds"), boost::json::parse("[0, 1, 2]"));
        EXPECT_EQ(told.at("leads"), true);
        EXPECT_EQ(told.at("progress"), 64);
        const auto pid = told.at("pid").to_number<pid_t>();
        EXPECT_THAT(spares, ::testing::Contains(pid));
        EXPECT_EQ(world.workers().pid_of(i), pid);
    }
    // And leaves others behind.
    wait_for_spares(2);
    write("end", "");
    const WorkerEnd end = world.next_end();
    EXPECT_EQ(end.exit_code, 7);
    EXPECT_EQ(end.generation.number, 2U);
    EXPECT_EQ(logged, "");
    world.close();
    EXPECT_TRUE(world.processes().empty());
}

TEST_F(SparesTest, WhatAnImportLookedAtMayNotDiffer) {
    write("looks.py", "import os\nWORD = os.environ.get('WORD')\n");
    world.options().spares->modules = {"looks"};
    const struct {
        const char* first;
        const char* second;
        bool warm;
    } cases[] = {{"a", "a", true}, {"a", "b", false}, {"b", "c", false}};
    int attempt = 0;
    for (const auto& [first, second, warm] : cases) {
        for (const bool again : {false, true}) {
            launch::WorkerStart wanted = worker(attempt);
            wanted.environment.emplace_back("WORD", again ? second : first);
            world.must_start({wanted}, static_cast<std::uint64_t>(attempt) + 1);
            const auto told = said(attempt);
            EXPECT_EQ(told.at("word"), again ? second : first);
            EXPECT_EQ(told.at("warm"), again && warm) << first << second;
            wait_for_spares(1);
            stop();
            ++attempt;
        }
        // The next case's spare is one of its own.
        world.close();
    }
    EXPECT_EQ(count_logged("WORD was"), 2) << logged;
}

TEST_F(SparesTest, AnotherCommandIsNotTheSpares) {
    start(0);
    wait_for_spares(1);
    stop();
    launch::WorkerStart other = worker(1);
    other.command[2] = write("other.py", kProgram);
    world.must_start({other}, 2);
    EXPECT_EQ(said(1).at("warm"), false);
    EXPECT_EQ(count_logged("made for another command"), 1) << logged;
}

TEST_F(SparesTest, ModulesThatStandInTheWayAreLeftOut) {
    write("breaks.py", "raise KeyError('x')\n");
    world.options().spares->modules = {"breaks", "decimal"};
    start(0);
    wait_for_spares(1);
    stop();
    start(1);
    EXPECT_EQ(said(1).at("warm"), true);
    EXPECT_EQ(count_logged("breaks can't be imported: KeyError"), 1) << logged;
}

// Deaths may follow each other faster than spares import.
TEST_F(SparesTest, OneThatWasTakenWhileItImportedTeachesAsWell) {
    write("looks.py",
          "import os, time\nopen(os.environ['ROOT'] + '/imports', 'w').write('x\\n')\n"
          "while not os.path.exists(os.environ['ROOT'] + '/go'): time.sleep(0.002)\n"
          "NAMES = [name for name in os.environ if name.startswith('LOOKS_')]\n");
    world.options().spares->modules = {"looks", "decimal"};
    start(0);
    world.line_of("imports");
    stop();
    write("go", "");
    start(1);
    EXPECT_EQ(said(1).at("warm"), false);
    EXPECT_EQ(count_logged("a module is left out of warm spares"), 1) << logged;
    std::filesystem::remove(world.root() / "go");
    wait_for_spares(1);
    stop();
    start(2);
    EXPECT_EQ(said(2).at("warm"), true);
}

TEST_F(SparesTest, ThereIsNoneThatCouldNeverBeWarm) {
    write("ranked.py",
          "import os\nRANK = os.environ.get('RANK')\n"
          "open(os.environ['ROOT'] + '/seen-' + str(os.getpid()), 'w').close()\n");
    world.options().spares->modules = {"ranked"};
    start(0, 2);
    const auto both_import = [&] {
        return std::ranges::count_if(
                   std::filesystem::directory_iterator(world.root()), [](const auto& entry) {
                       return entry.path().filename().string().starts_with("seen-");
                   }) == 2;
    };
    EXPECT_TRUE(world.eventually(both_import, 60s)) << "one may begin long after the other";
    EXPECT_TRUE(world.eventually([&] { return count_logged("reads RANK") > 0; }, 60s));
    EXPECT_TRUE(world.eventually([&] { return spare_pids(2).empty(); }, 60s));
    stop();
    start(1, 2);
    EXPECT_EQ(said(1).at("warm"), false);
    EXPECT_EQ(said(1, 1).at("warm"), false);
    EXPECT_EQ(count_logged("start cold"), 1) << "once for all: " << logged;
}

TEST_F(SparesTest, ASpareThatDiesIsReplaced) {
    start(0);
    wait_for_spares(1);
    const std::vector<pid_t> before = spare_pids();
    ASSERT_EQ(before.size(), 1U);
    ::kill(before[0], SIGKILL);
    EXPECT_TRUE(world.eventually(
        [&] {
            const auto now = spare_pids();
            return world.workers().spares_ready() == 1 && now.size() == 1 && now != before;
        },
        60s));
    stop();
    start(1);
    EXPECT_EQ(said(1).at("warm"), true);
}

TEST_F(SparesTest, AFaultOfWhatKeepsThemIsNotTheirEnd) {
    {
        const TaskFault keeps("keep spares");
        const TaskFault sees("see workers begin");
        start(0);
        EXPECT_TRUE(world.eventually([&] { return keeps.hits() > 0 && sees.hits() > 0; }, 60s));
    }
    wait_for_spares(1);
}

TEST_F(SparesTest, SparesThatDieAgainAndAgainAreNoMore) {
    write("dies.py", "import os\nos.abort()\n");
    world.options().spares->modules = {"dies"};
    start(0);
    EXPECT_TRUE(world.eventually([&] { return count_logged("ended by themselves") > 0; }, 60s));
    EXPECT_TRUE(world.eventually([&] { return spare_pids().empty(); }, 60s));
    EXPECT_EQ(count_logged("4 of them ended by themselves"), 1) << logged;
    EXPECT_NE(world.workers().pid_of(0), 0);
}

TEST_F(SparesTest, OneThatIsNoWorkerInTheEndIsNoFailure) {
    const std::string ready =
        "import json, os, socket, sys, time\n"
        "control = socket.socket(fileno=3)\n"
        "text = json.dumps({'ready': True, 'version': 1, 'warm': True, 'why': '', 'module': '', "
        "'note': '', 'reads': []}).encode()\n"
        "control.sendall(len(text).to_bytes(4, 'little') + text)\n";
    const struct {
        std::string program;
        std::string said;
    } cases[] = {
        // Dies as it is told to start.
        {ready + "control.recv(1)\nos._exit(3)\n", "it ended before it was a worker"},
        {ready + "control.recv(1)\ntext = b'{\"refused\": true, \"why\": \"no room\"}'\n"
                 "control.sendall(len(text).to_bytes(4, 'little') + text)\n",
         "no room"},
        {ready + "control.recv(1)\ncontrol.sendall(b'\\2\\0\\0\\0{}')\ntime.sleep(1000)\n",
         "can't be parsed"},
    };
    for (const auto& [program, reason] : cases) {
        world.options().spares->zygote = write("fake.py", program);
        std::filesystem::remove(world.root() / "said-1-0");
        start(0);
        wait_for_spares(1);
        stop();
        start(1);
        EXPECT_EQ(said(1).at("warm"), false);
        EXPECT_EQ(count_logged(reason), 1) << logged;
        EXPECT_EQ(world.workers().running()->generation.number, 2U);
        world.close();
    }
}

TEST_F(SparesTest, NobodyWaitsForOneThatDoesNotAnswer) {
    world.options().spares->zygote =
        write("stuck.py",
              "import os, time\nopen(os.environ['ROOT'] + '/stuck', 'w').write('x\\n')\n"
              "time.sleep(1000)\n");
    world.options().spares->answers = 20ms;
    start(0);
    world.line_of("stuck");
    stop();
    start(1);
    EXPECT_EQ(said(1).at("warm"), false);
    EXPECT_EQ(count_logged("the spare does not answer"), 1) << logged;
}

TEST_F(SparesTest, OneThatStillImportsIsWaitedFor) {
    // Until the test says so.
    write("slow.py",
          "import os, time\nopen(os.environ['ROOT'] + '/imports', 'w').write('x\\n')\n"
          "while not os.path.exists(os.environ['ROOT'] + '/go'): time.sleep(0.002)\n");
    world.options().spares->modules = {"slow"};
    start(0);
    world.line_of("imports");
    stop();
    write("go", "");
    start(1);
    EXPECT_EQ(said(1).at("warm"), true);
}

TEST_F(SparesTest, OutputGoesWhereTheWorkersGoes) {
    LogFlags flags;
    flags.log_dir = world.root() / "logs";
    flags.redirects = "3";
    world.options().logs = *LogPlan::parse(flags);
    start(0);
    wait_for_spares(1);
    stop();
    start(1);
    EXPECT_EQ(said(1).at("warm"), true);
    const auto log = world.workers().log_directory() / "attempt_1/0/stdout.log";
    EXPECT_TRUE(world.eventually([&] { return world.content(log) == "printed by attempt 1\n"; }))
        << world.content(log);
}

TEST_F(SparesTest, WhatAWorkerImportsIsLearnt) {
    world.options().spares->modules = {};
    world.options().spares->patience = 1h;
    write("teach", "");
    start(0);
    wait_for_spares(1);
    stop();
    start(1);
    EXPECT_EQ(said(1).at("warm"), true);
    EXPECT_EQ(said(1).at("imported"), true);
}

TEST_F(SparesTest, WithoutModulesThereIsNoneAndThatIsSaid) {
    world.options().spares->modules = {};
    start(0);
    EXPECT_TRUE(world.eventually(
        [&] { return count_logged("the modules to import are not known") == 1; }, 60s));
    EXPECT_TRUE(spare_pids().empty());
    // The end of a worker may teach as well.
    write("learnt.new", R"({"version":1,"python":"another","modules":["decimal"]})");
    std::filesystem::rename(world.root() / "learnt.new", world.root() / "learnt.json");
    EXPECT_TRUE(world.eventually(
        [&] { return count_logged("was written under another Python") == 1; }, 60s))
        << logged;
}

TEST_F(SparesTest, AWorkerThatWasASpareIsTakenOver) {
    start(0);
    wait_for_spares(1);
    stop();
    start(1);
    const auto pid = said(1).at("pid").to_number<pid_t>();
    wait_for_spares(1);
    world.let_go();
    EXPECT_EQ(world.processes(), std::vector<pid_t>{pid}) << "spares stay with their agent";
    LocalWorkers& next = world.open();
    EXPECT_EQ(next.running()->generation.number, 2U);
    EXPECT_EQ(next.pid_of(0), pid);
    write("end", "");
    EXPECT_EQ(world.next_end().exit_code, 7);
}

TEST_F(SparesTest, AKilledShimTakesItsSpareAlong) {
    start(0);
    wait_for_spares(1);
    const std::vector<pid_t> spares = spare_pids();
    ASSERT_EQ(spares.size(), 1U);
    // "PID (NAME) STATE PARENT ..."
    const std::string stat = world.content(fmt::format("/proc/{}/stat", spares[0]));
    ::kill(std::stoi(stat.substr(stat.rfind(") ") + 4)), SIGKILL);
    EXPECT_TRUE(world.eventually([&] { return !world.is_alive(spares[0]); }));
    wait_for_spares(1);
}

}  // namespace
}  // namespace muster::workers::spares_test
