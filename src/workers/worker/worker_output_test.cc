#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <sstream>

#include "workers/local/local_workers_fixture.h"

namespace muster::workers::worker_output_test {
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
    static constexpr int kTold = 3;
    /// An agent that runs the workers to their ends, and writes these to `told`.
    pid_t start_agent(std::vector<launch::WorkerStart> starts, int out, int told) {
        const int error = open_new(world.root() / "console.err");
        const pid_t agent = ::fork();
        if (agent == 0) {
            ::dup2(out, STDOUT_FILENO);
            ::dup2(error, STDERR_FILENO);
            ::dup2(told, kTold);
            // The test's end of the console, too.
            ::syscall(SYS_close_range, kTold + 1, ~0U, 0);
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
                if (::write(kTold, record, sizeof record) != sizeof record) ::_exit(1);
            }
            loop.await((*workers)->stop(std::chrono::seconds(1)));
            workers->reset();
            ::_exit(0);
        }
        for (const int fd : {out, error, told}) ::close(fd);
        return agent;
    }
    /// Runs the workers to their ends. The console is two files.
    Said run(std::vector<launch::WorkerStart> starts, const LogFlags& flags) {
        world.options().logs = *LogPlan::parse(flags);
        const fs::path out = world.root() / "console.out";
        int told[2];
        EXPECT_EQ(::pipe2(told, O_CLOEXEC), 0);
        const pid_t agent = start_agent(std::move(starts), open_new(out), told[1]);
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
        said.error = world.content(world.root() / "console.err");
        return said;
    }
    enum class Reader : std::uint8_t { kAtOnce, kWhenWorkersHaveEnded, kCloses, kNever };
    /// Runs the workers to their ends. The console is a pipe.
    Said run_with(Reader reader, std::vector<launch::WorkerStart> starts, const LogFlags& flags) {
        world.options().logs = *LogPlan::parse(flags);
        int told[2];
        int console[2];
        EXPECT_EQ(::pipe2(told, O_CLOEXEC), 0);
        EXPECT_EQ(::pipe2(console, O_CLOEXEC), 0);
        const std::size_t count = starts.size();
        const pid_t agent = start_agent(std::move(starts), console[1], told[1]);
        Said said;
        if (reader == Reader::kCloses) ::close(console[0]);
        if (reader == Reader::kAtOnce) said.out = read_all(console[0]);
        int record[2];
        while (said.ends.size() < count &&
               ::read(told[0], record, sizeof record) == sizeof record) {
            WorkerEnd end;
            end.rank = record[0];
            end.exit_code = record[1];
            said.ends.push_back(end);
        }
        if (reader == Reader::kWhenWorkersHaveEnded) said.out = read_all(console[0]);
        ::waitpid(agent, nullptr, 0);
        if (reader != Reader::kCloses) ::close(console[0]);
        ::close(told[0]);
        said.error = world.content(world.root() / "console.err");
        return said;
    }
    static int open_new(const fs::path& path) {
        return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    }
    static std::string read_all(int from) {
        std::string all;
        char part[4096];
        for (ssize_t size = 1; (size = ::read(from, part, sizeof part)) > 0;)
            all.append(part, static_cast<std::size_t>(size));
        return all;
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

/// Writes lines of one letter, the worker's local rank.
std::string lines_of(int count, int size) {
    return fmt::format(
        "import os\n"
        "for i in range({}): os.write(1, (os.environ['LOCAL_RANK'] * {} + '\\n').encode())\n",
        count, size);
}

TEST_F(WorkerOutputTest, AllOfItComesToAReaderWhoIsLate) {
    const Said said =
        run_with(Reader::kWhenWorkersHaveEnded,
                 {world.python(0, lines_of(8000, 200)), world.python(1, lines_of(8000, 200))},
                 {.log_dir = logs(), .tee = "3"});
    const std::vector<std::string> lines = sorted_lines(said.out);
    ASSERT_EQ(lines.size(), 16'000U) << said.error;
    EXPECT_EQ(lines.front(), "[default0]:" + std::string(200, '0'));
    EXPECT_EQ(lines.back(), "[default1]:" + std::string(200, '1'));
    EXPECT_EQ(said.error, "");
}

TEST_F(WorkerOutputTest, LongLinesOfSeveralWorkersStayWhole) {
    const std::string script = lines_of(100, 20'000);
    const Said said =
        run_with(Reader::kWhenWorkersHaveEnded,
                 {world.python(0, script), world.python(1, script), world.python(2, script)},
                 {.log_dir = logs(), .tee = "3"});
    const std::vector<std::string> lines = sorted_lines(said.out);
    ASSERT_EQ(lines.size(), 300U);
    for (std::size_t i = 0; i < lines.size(); ++i)
        ASSERT_EQ(lines[i], fmt::format("[default{}]:", i / 100) +
                                std::string(20'000, static_cast<char>('0' + i / 100)));
}

TEST_F(WorkerOutputTest, WithoutAFileTheWorkerWaitsForTheReader) {
    for (const LogFlags& flags :
         {LogFlags{.log_dir = "/dev/null", .tee = "3"},
          LogFlags{.log_dir = logs(), .tee = "3", .max_bytes = "4096", .max_files = "1"}}) {
        const Said said = run_with(Reader::kAtOnce, {world.python(0, lines_of(8000, 200))}, flags);
        EXPECT_EQ(sorted_lines(said.out).size(), 8000U) << said.error;
    }
}

TEST_F(WorkerOutputTest, OfAConsoleThatNobodyReadsHoldsNobodyUp) {
    const Said said = run_with(Reader::kNever, {world.python(0, lines_of(8000, 200))},
                               {.log_dir = logs(), .tee = "3"});
    ASSERT_EQ(said.ends.size(), 1U);
    EXPECT_EQ(said.ends[0].exit_code, 0);
    EXPECT_EQ(world.content(only(logs()) / "attempt_0/0/stdout.log").size(), 8000U * 201);
    EXPECT_NE(said.error.find("a part of a worker's output is in its file only"), std::string::npos)
        << said.error;
    EXPECT_NE(said.error.find("why=\"the reader was too slow\""), std::string::npos) << said.error;
}

TEST_F(WorkerOutputTest, OfAClosedConsoleIsInTheFile) {
    const Said said = run_with(Reader::kCloses, {world.python(0, lines_of(8000, 200))},
                               {.log_dir = logs(), .tee = "3"});
    ASSERT_EQ(said.ends.size(), 1U);
    EXPECT_EQ(said.ends[0].exit_code, 0);
    EXPECT_EQ(world.content(only(logs()) / "attempt_0/0/stdout.log").size(), 8000U * 201);
    EXPECT_NE(said.error.find("why=\"Broken pipe\""), std::string::npos) << said.error;
}

// The bar must be there before its line ends.
TEST_F(WorkerOutputTest, ProgressIsShownAsItComes) {
    world.options().logs = *LogPlan::parse({.log_dir = logs(), .tee = "3"});
    int console[2];
    int told[2];
    ASSERT_EQ(::pipe2(console, O_CLOEXEC), 0);
    ASSERT_EQ(::pipe2(told, O_CLOEXEC), 0);
    const pid_t agent =
        start_agent({world.python(0,
                                  "import os, time\n"
                                  "os.write(1, b'\\r 10%')\n"
                                  "while not os.path.exists(os.environ['ROOT'] + '/seen'):\n"
                                  "    time.sleep(0.001)\n"
                                  "os.write(1, b'\\r100%\\n')\n")},
                    console[1], told[1]);
    const std::string bar = "[default0]: 10%\r";
    std::string seen(bar.size(), ' ');
    EXPECT_EQ(::read(console[0], seen.data(), seen.size()), static_cast<ssize_t>(bar.size()));
    EXPECT_EQ(seen, bar);
    std::ofstream(world.root() / "seen") << "";
    EXPECT_EQ(read_all(console[0]), "[default0]:100%\n");
    ::waitpid(agent, nullptr, 0);
    for (const int fd : {console[0], told[0]}) ::close(fd);
}

TEST_F(WorkerOutputTest, AWrongLogDirectoryIsAnErrorBeforeAnythingRuns) {
    std::ofstream(world.root() / "file") << "x";
    world.options().logs = *LogPlan::parse({.log_dir = world.root() / "file"});
    const auto started = world.start({world.shell(0, "exit 0")});
    ASSERT_FALSE(started);
    EXPECT_NE(started.error().message().find("--log-dir"), std::string::npos);
}

}  // namespace
}  // namespace muster::workers::worker_output_test
