#include <fcntl.h>
#include <sys/wait.h>

#include <algorithm>
#include <sstream>

#include "workers/local/local_workers_fixture.h"

namespace muster::workers {
namespace {

namespace fs = std::filesystem;

/// What workers write, as it comes out of an agent, which is a process of its own.
class WorkerOutputTest : public ::testing::Test {
  protected:
    struct Said {
        std::string out;
        std::string error;
        std::vector<WorkerEnd> ends;
    };
    /// Runs the workers to their ends. The console is a pipe that `read_console` reads, or two
    /// files.
    Said run(std::vector<launch::WorkerStart> starts, const LogFlags& flags) {
        world.options().logs = *LogPlan::parse(flags);
        const fs::path out = world.root() / "console.out";
        const fs::path error = world.root() / "console.err";
        int told[2];
        EXPECT_EQ(::pipe(told), 0);
        const pid_t agent = ::fork();
        if (agent == 0) {
            redirect(STDOUT_FILENO, out);
            redirect(STDERR_FILENO, error);
            RealLoop loop;
            auto directory = JobDirectory::claim(world.root(), "job");
            auto workers = loop.await(LocalWorkers::open(loop.context.get_executor(), loop.clock,
                                                         *std::move(directory), world.options()));
            const std::size_t count = starts.size();
            const auto started = loop.await((*workers)->start(
                {.generation = {.epoch = 1, .number = 1}, .members = {}}, std::move(starts)));
            for (std::size_t i = 0; started && i < count; ++i) {
                const WorkerEnd end = loop.await((*workers)->next_end());
                const int record[2] = {end.rank, end.exit_code.value_or(-1)};
                if (::write(told[1], record, sizeof record) != sizeof record) ::_exit(1);
            }
            loop.await((*workers)->stop(std::chrono::seconds(1)));
            workers->reset();
            ::_exit(0);
        }
        ::close(told[1]);
        Said said;
        int record[2];
        while (::read(told[0], record, sizeof record) == sizeof record) {
            WorkerEnd end;
            end.rank = record[0];
            end.exit_code = record[1];
            said.ends.push_back(end);
        }
        ::close(told[0]);
        ::waitpid(agent, nullptr, 0);
        said.out = world.content(out);
        said.error = world.content(error);
        return said;
    }
    static void redirect(int stream, const fs::path& path) {
        const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
        ::dup2(file, stream);
        ::close(file);
    }
    fs::path logs() const { return world.root() / "logs"; }
    /// The only directory in `in`.
    static fs::path only(const fs::path& in) {
        std::vector<fs::path> found;
        for (const auto& entry : fs::directory_iterator(in)) found.push_back(entry.path());
        EXPECT_EQ(found.size(), 1U) << in;
        return found.empty() ? fs::path() : found[0];
    }
    static std::vector<std::string> sorted_lines(const std::string& text) {
        std::vector<std::string> lines;
        std::istringstream stream(text);
        for (std::string line; std::getline(stream, line);) lines.push_back(line);
        std::ranges::sort(lines);
        return lines;
    }

    LocalWorkersFixture world;
};

TEST_F(WorkerOutputTest, GoesStraightOutWithoutFlags) {
    const Said said = run({world.shell(0, "echo out; echo err >&2")}, {});
    EXPECT_EQ(said.out, "out\n");
    EXPECT_EQ(said.error, "err\n");
}

TEST_F(WorkerOutputTest, IsRedirectedWhereTorchrunPutsIt) {
    const Said said =
        run({world.shell(0, "echo out0; echo err0 >&2"), world.shell(1, "printf out1")},
            {.log_dir = logs(), .redirects = "0:3,1:1"});
    EXPECT_EQ(said.out, "");
    const fs::path run_directory = only(logs());
    EXPECT_TRUE(run_directory.filename().string().starts_with("run_")) << run_directory;
    EXPECT_EQ(world.content(run_directory / "attempt_0/0/stdout.log"), "out0\n");
    EXPECT_EQ(world.content(run_directory / "attempt_0/0/stderr.log"), "err0\n");
    EXPECT_EQ(world.content(run_directory / "attempt_0/1/stdout.log"), "out1");
    EXPECT_FALSE(fs::exists(run_directory / "attempt_0/1/stderr.log"));
}

TEST_F(WorkerOutputTest, IsTeedWithPrefixes) {
    const Said said =
        run({world.shell(0, "echo a; printf b"), world.shell(1, "echo c; echo d >&2")},
            {.log_dir = logs(), .tee = "3"});
    EXPECT_EQ(sorted_lines(said.out),
              (std::vector<std::string>{"[default0]:a", "[default0]:b", "[default1]:c"}));
    EXPECT_NE(said.error.find("[default1]:d\n"), std::string::npos) << said.error;
    EXPECT_EQ(world.content(only(logs()) / "attempt_0/0/stdout.log"), "a\nb");
}

TEST_F(WorkerOutputTest, IsShownOfTheFilteredRanksOnly) {
    const Said said = run({world.shell(0, "echo a"), world.shell(1, "echo b")},
                          {.log_dir = logs(), .local_ranks_filter = "1"});
    EXPECT_EQ(said.out, "b\n");
}

TEST_F(WorkerOutputTest, LinesWithATextGoToOneFileOfAll) {
    const Said said = run({world.shell(0, "echo epoch 1; echo noise; echo loss 0 >&2"),
                           world.shell(1, "echo noise; echo loss 1; printf 'epoch 2'")},
                          {.log_dir = logs(), .tee = "3", .out_filters = "epoch,loss"});
    const fs::path attempt = only(logs()) / "attempt_0";
    EXPECT_EQ(sorted_lines(world.content(attempt / "filtered_stdout.log")),
              (std::vector<std::string>{"[default0]:epoch 1", "[default1]:epoch 2",
                                        "[default1]:loss 1"}));
    EXPECT_FALSE(fs::exists(attempt / "filtered_stderr.log"));
    EXPECT_EQ(world.content(attempt / "0/stdout.log"), "epoch 1\nnoise\n") << "it has all";
    EXPECT_NE(said.out.find("[default1]:noise\n"), std::string::npos);
}

TEST_F(WorkerOutputTest, OfSeveralWorkersStaysLinewiseWhole) {
    const std::string script =
        "import os\n"
        "r = os.environ['LOCAL_RANK']\n"
        "for i in range(2000): os.write(1, (r * (i % 300) + '\\n').encode())\n";
    const Said said =
        run({world.python(0, script), world.python(1, script), world.python(2, script)},
            {.log_dir = logs(), .tee = "3"});
    std::istringstream text(said.out);
    int count = 0;
    for (std::string line; std::getline(text, line); ++count) {
        ASSERT_TRUE(line.starts_with("[default") && line.substr(9, 2) == "]:") << line;
        ASSERT_EQ(line.find_first_not_of(line[8], 11), std::string::npos) << line;
    }
    EXPECT_EQ(count, 6000);
}

TEST_F(WorkerOutputTest, IsCutIntoFiles) {
    run({world.python(0, "for i in range(2000): print(f'line {i:04}', flush=True)")},
        {.log_dir = logs(), .redirects = "1", .max_bytes = "4096", .max_files = "2"});
    const fs::path directory = only(logs()) / "attempt_0/0";
    const std::string newest = world.content(directory / "stdout.log");
    EXPECT_TRUE(newest.ends_with("line 1999\n"));
    EXPECT_EQ(world.content(directory / "stdout.log.1").size(), 4090U);
    EXPECT_FALSE(fs::exists(directory / "stdout.log.2"));
}

TEST_F(WorkerOutputTest, OfAFullDiskIsLostAndTheWorkerGoesOn) {
    world.options().run_level = false;
    fs::create_directories(logs() / "attempt_0/0");
    fs::create_symlink("/dev/full", logs() / "attempt_0/0/stdout.log");
    const Said said = run({world.python(0, "for i in range(1000): print('x' * 1000, flush=True)")},
                          {.log_dir = logs(), .redirects = "1"});
    ASSERT_EQ(said.ends.size(), 1U);
    EXPECT_EQ(said.ends[0].exit_code, 0);
    const std::string once = "a part of a worker's output was lost";
    const std::size_t first = said.error.find(once);
    ASSERT_NE(first, std::string::npos) << said.error;
    EXPECT_EQ(said.error.find(once, first + 1), std::string::npos);
    EXPECT_NE(said.error.find("No space left on device"), std::string::npos) << said.error;
    EXPECT_NE(said.error.find("bytes=1001000"), std::string::npos) << said.error;
}

TEST_F(WorkerOutputTest, OfAConsoleThatNobodyReadsHoldsNobodyUp) {
    world.options().logs = *LogPlan::parse({.log_dir = logs(), .tee = "1"});
    int console[2];
    ASSERT_EQ(::pipe2(console, O_CLOEXEC), 0);
    const int own = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
    ::dup2(console[1], STDOUT_FILENO);
    world.must_start({world.python(0, "for i in range(2000): print('x' * 1000, flush=True)")});
    EXPECT_EQ(world.next_end().exit_code, 0);
    ::dup2(own, STDOUT_FILENO);
    ::close(own);
    ::close(console[0]);
    ::close(console[1]);
    EXPECT_EQ(world.content(only(logs()) / "attempt_0/0/stdout.log").size(), 2'002'000U);
}

TEST_F(WorkerOutputTest, AWrongLogDirectoryIsAnErrorBeforeAnythingRuns) {
    std::ofstream(world.root() / "file") << "x";
    world.options().logs = *LogPlan::parse({.log_dir = world.root() / "file"});
    const auto started = world.start({world.shell(0, "exit 0")});
    ASSERT_FALSE(started);
    EXPECT_NE(started.error().message().find("--log-dir"), std::string::npos);
}

}  // namespace
}  // namespace muster::workers
