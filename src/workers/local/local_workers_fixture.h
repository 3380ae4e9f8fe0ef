#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/test_loop.h"
#include "process/process_tree.h"
#include "workers/local/local_workers.h"

namespace muster::workers {

/// Real workers for a test, in its own directory, and what is needed to control them.
class LocalWorkersFixture {
  public:
    explicit LocalWorkersFixture(LocalWorkersOptions options = {}) : options_(std::move(options)) {
        std::string name = ::testing::TempDir() + "muster-workers-XXXXXX";
        root_ = ::mkdtemp(name.data());
    }
    ~LocalWorkersFixture() {
        close();
        EXPECT_TRUE(eventually([this] { return job_directories().empty(); }))
            << "the job's directory is left";
        std::filesystem::remove_all(root_);
    }

    LocalWorkers& open() {
        auto directory = JobDirectory::claim(root_, "job");
        EXPECT_TRUE(directory) << directory.error().message();
        auto opened = loop.await(LocalWorkers::open(loop.context.get_executor(), loop.clock,
                                                    *std::move(directory), options_));
        EXPECT_TRUE(opened) << opened.error().message();
        workers_ = *std::move(opened);
        return *workers_;
    }
    void close() {
        if (!workers_) return;
        loop.await(workers_->stop(Duration(0)));
        loop.await(workers_->end_spares());
        workers_.reset();
    }
    /// Lets go of the workers, as an agent does that another one replaces.
    void let_go() {
        loop.await(workers_->let_go());
        workers_.reset();
    }
    LocalWorkers& workers() { return workers_ ? *workers_ : open(); }

    const std::filesystem::path& root() const { return root_; }
    LocalWorkersOptions& options() { return options_; }
    std::vector<std::filesystem::path> job_directories() const {
        std::vector<std::filesystem::path> found;
        for (const auto& entry : std::filesystem::directory_iterator(root_))
            if (entry.path().filename().string().starts_with("muster-"))
                found.push_back(entry.path());
        return found;
    }

    /// `script` is a shell script; it finds the test's directory in $ROOT.
    launch::WorkerStart shell(int local_rank, const std::string& script) const {
        return worker(local_rank, {"/bin/sh", "-c", script});
    }
    launch::WorkerStart python(int local_rank, const std::string& script) const {
        return worker(local_rank, {"/usr/bin/python3", "-c", script});
    }
    launch::WorkerStart worker(int local_rank, std::vector<std::string> command) const {
        launch::WorkerStart start;
        start.local_rank = local_rank;
        start.rank = local_rank;
        start.command = std::move(command);
        start.environment = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                             {"ROOT", root_.string()},
                             {"LOCAL_RANK", std::to_string(local_rank)},
                             {"ROLE_NAME", "default"},
                             {"TORCHELASTIC_RUN_ID", "run"},
                             {"TORCHELASTIC_RESTART_COUNT", "0"}};
        return start;
    }
    Result<void> start(std::vector<launch::WorkerStart> starts, std::uint64_t number = 1) {
        job_protocol::World world{.generation = {.epoch = 1, .number = number},
                                  .members = {{.slot = 0,
                                               .incarnation = "a",
                                               .address = "127.0.0.1",
                                               .local_size = static_cast<int>(starts.size())}}};
        return loop.await(workers().start(std::move(world), std::move(starts)));
    }
    void must_start(std::vector<launch::WorkerStart> starts, std::uint64_t number = 1) {
        const auto started = start(std::move(starts), number);
        ASSERT_TRUE(started) << started.error().message();
    }
    WorkerEnd next_end() { return loop.await(workers().next_end()); }

    static std::string content(const std::filesystem::path& path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }
    /// What a worker wrote to $ROOT/NAME; waits for a whole line.
    std::string line_of(const std::string& name) {
        std::string text;
        EXPECT_TRUE(eventually([&] {
            text = content(root_ / name);
            return text.ends_with('\n');
        })) << name;
        if (!text.empty()) text.pop_back();
        return text;
    }
    pid_t pid_in(const std::string& name) { return std::stoi(line_of(name)); }

    /// Polls a condition: for what has no event to wait for.
    template <class Condition>
    bool eventually(Condition condition, Duration most = std::chrono::seconds(60)) {
        const Instant until = loop.clock.now() + most;
        while (!condition()) {
            if (loop.clock.now() > until) return false;
            loop.await(loop.clock.sleep_for(std::chrono::milliseconds(1)));
        }
        return true;
    }
    /// The processes that were started with the test's $ROOT. Of a session whose leader lives, only
    /// the leader: a worker as long as it lives, and after that what it left.
    std::vector<pid_t> processes() const {
        std::vector<pid_t> found;
        const std::string mark = "ROOT=" + root_.string();
        for (const pid_t pid : process::descendants_of(1)) {
            const pid_t leader = ::getsid(pid);
            if (leader != pid && leader > 0 && is_alive(leader)) continue;
            const std::string environment = content(fmt::format("/proc/{}/environ", pid));
            if ((std::string(1, '\0') + environment).find(std::string(1, '\0') + mark + '\0') !=
                std::string::npos)
                found.push_back(pid);
        }
        return found;
    }
    static bool is_alive(pid_t pid) {
        std::ifstream stat(fmt::format("/proc/{}/stat", pid));
        std::string text;
        std::getline(stat, text);
        const std::size_t name = text.rfind(") ");
        return name != text.npos && text[name + 2] != 'Z';
    }

    RealLoop loop;

  private:
    LocalWorkersOptions options_;
    std::filesystem::path root_;
    std::unique_ptr<LocalWorkers> workers_;
};

}  // namespace muster::workers
