#include "workers/shim/program/job_files.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace muster::workers::job_files_test {
namespace {

namespace fs = std::filesystem;

constexpr int kShims = 4;
constexpr int kRounds = 2000;

/// Where this process and its children wait for each other.
class SharedBarrier {
  public:
    explicit SharedBarrier(unsigned count)
        : barrier_(static_cast<pthread_barrier_t*>(::mmap(nullptr, sizeof(pthread_barrier_t),
                                                          PROT_READ | PROT_WRITE,
                                                          MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
        pthread_barrierattr_t shared;
        ::pthread_barrierattr_init(&shared);
        ::pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
        ::pthread_barrier_init(barrier_, &shared, count);
        ::pthread_barrierattr_destroy(&shared);
    }
    ~SharedBarrier() { ::munmap(barrier_, sizeof *barrier_); }
    SharedBarrier(const SharedBarrier&) = delete;
    SharedBarrier& operator=(const SharedBarrier&) = delete;
    void wait() { ::pthread_barrier_wait(barrier_); }

  private:
    pthread_barrier_t* barrier_;
};

std::string socket_of(int shim) { return std::to_string(shim) + ".sock"; }

/// Of shims that end together, each removes its own files, and the last one the rest.
TEST(JobFiles, OfShimsThatEndTogetherOneIsTheLast) {
    std::string root = (fs::temp_directory_path() / "muster-files-XXXXXX").string();
    ASSERT_NE(::mkdtemp(root.data()), nullptr);
    const fs::path directory = fs::path(root) / "job";
    SharedBarrier turn(kShims + 1);
    std::vector<pid_t> shims;
    for (int i = 0; i < kShims; ++i) {
        shims.push_back(::fork());
        if (shims.back() != 0) continue;
        const ShimOrder order{
            .directory = directory.string(), .socket = socket_of(i), .record = "record"};
        for (int round = 0; round < kRounds; ++round) {
            turn.wait();
            remove_job_files(order);
            turn.wait();
        }
        ::_exit(0);
    }
    int left = 0;
    for (int round = 0; round < kRounds; ++round) {
        fs::create_directory(directory);
        std::ofstream(directory / "record").flush();
        for (int i = 0; i < kShims; ++i) std::ofstream(directory / socket_of(i)).flush();
        turn.wait();
        turn.wait();
        left += fs::remove_all(directory) > 0 ? 1 : 0;
    }
    for (const pid_t shim : shims) ::waitpid(shim, nullptr, 0);
    EXPECT_EQ(left, 0) << "directories of " << kRounds << " stayed";
    fs::remove_all(root);
}

TEST(JobFiles, WithTheLastWorkerGoesWhatItsAgentLeft) {
    std::string root = (fs::temp_directory_path() / "muster-files-XXXXXX").string();
    ASSERT_NE(::mkdtemp(root.data()), nullptr);
    const fs::path directory = fs::path(root) / "job";
    for (const std::string keep : {"", "master.record"}) {
        fs::create_directories(directory / "hook" / "__pycache__");
        for (const char* name : {".muster-job", "record", "0.sock", "store.port", "master.record",
                                 "master.record.new", "hook/a.py", "hook/__pycache__/a.pyc"})
            std::ofstream(directory / name).flush();
        remove_job_files({.directory = directory.string(),
                          .socket = "0.sock",
                          .record = "record",
                          .keep = keep});
        EXPECT_EQ(fs::exists(directory / "hook"), false);
        EXPECT_EQ(fs::exists(directory / "master.record"), !keep.empty());
        EXPECT_EQ(fs::exists(directory), !keep.empty());
        EXPECT_EQ(fs::exists(directory / ".muster-job"), !keep.empty());
    }
    fs::remove_all(root);
}

}  // namespace
}  // namespace muster::workers::job_files_test
