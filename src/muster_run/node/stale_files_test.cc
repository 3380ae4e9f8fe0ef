#include "muster_run/node/stale_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>

#include "base/time/real_clock.h"
#include "base/unique_fd.h"
#include "muster_run/node/error_files.h"
#include "muster_run/node/node_resources.h"
#include "workers/worker/job_directory.h"

namespace muster::run::stale_files_test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class StaleFilesTest : public ::testing::Test {
  protected:
    ~StaleFilesTest() override { fs::remove_all(root); }

    std::vector<std::string> removed(Duration later = {}) const {
        return remove_stale_files(root, RealClock().wall_now() + later).value();
    }
    workers::JobDirectory claimed() const {
        return *workers::JobDirectory::claim(root, "job 127.0.0.1:29400");
    }
    /// As an agent leaves it that is killed.
    fs::path left(const std::string& file) const {
        const workers::JobDirectory directory = claimed();
        std::ofstream(directory.path() / file) << "content";
        return directory.path();
    }
    fs::path made(const std::string& name, const std::string& file) const {
        fs::create_directory(root / name);
        fs::permissions(root / name, fs::perms(0700));
        std::ofstream(root / name / file) << "content";
        return root / name;
    }
    fs::path kept_errors() const {
        std::vector<workers::Failure> failures{{.end = {.rank = 1}, .content = "{}"}};
        failures[0].end.error_file = root / "job" / "error-0.json";
        keep_error_files(failures, {.job_dir = root / "job", .temporary = root, .run_id = "a"});
        return fs::path(failures[0].end.error_file).parent_path();
    }

    fs::path root = [] {
        std::string name = ::testing::TempDir() + "muster-stale-XXXXXX";
        return fs::path(::mkdtemp(name.data()));
    }();
};

TEST_F(StaleFilesTest, TheDirectoryOfAKilledAgentGoes) {
    const fs::path path = left("store.port");
    EXPECT_THAT(removed(), ElementsAre(path.string()));
    EXPECT_FALSE(fs::exists(path));
}

TEST_F(StaleFilesTest, AnAgentThatEndedLeftNothing) {
    {
        const workers::JobDirectory directory = claimed();
    }
    EXPECT_TRUE(fs::is_empty(root));
}

TEST_F(StaleFilesTest, TheRecordOfAMasterWaitsForItsSuccessor) {
    const fs::path path = left(kMasterRecord);
    EXPECT_THAT(removed(kRecordStays - 1min), IsEmpty());
    EXPECT_THAT(removed(kRecordStays + 1s), ElementsAre(path.string()));
}

TEST_F(StaleFilesTest, ThatOfALivingAgentStays) {
    const workers::JobDirectory directory = claimed();
    EXPECT_THAT(removed(kErrorFilesStay * 2), IsEmpty());
}

TEST_F(StaleFilesTest, ThatOfALivingWorkerStays) {
    const fs::path path = left("0.sock.not");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = (path / "0.sock").string();
    ASSERT_LT(name.size(), sizeof address.sun_path);
    std::memcpy(address.sun_path, name.c_str(), name.size() + 1);
    UniqueFd shim(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(shim.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(shim.get(), 1), 0);
    EXPECT_THAT(removed(kErrorFilesStay * 2), IsEmpty());
    shim.reset();
    EXPECT_THAT(removed(), ElementsAre(path.string())) << "the socket of a dead one is there";
}

TEST_F(StaleFilesTest, WhatOnlyLooksLikeOursStays) {
    const std::string user = std::to_string(::geteuid());
    const std::string hash = "-0123456789abcdef-";
    made("muster-" + user + hash + "AAAAAA", "no-marker");
    made("muster-" + user + hash + "AAAAA", ".muster-job");
    made("muster-" + user + hash + "AAAAA.", ".muster-job");
    made("muster-" + user + "-0123456789ABCDEF-AAAAAA", ".muster-job");
    made("muster-" + std::to_string(::geteuid() + 1) + hash + "AAAAAA", ".muster-job");
    made("muster_results", ".muster-job");
    made("muster_AAAAAA", ".muster-job");
    made("muster_logs_AAAAAA", "stdout.log");
    const fs::path shared = made("muster-" + user + hash + "BBBBBB", ".muster-job");
    fs::permissions(shared, fs::perms(0755));
    const fs::path elsewhere = made("elsewhere", ".muster-job");
    fs::create_directory_symlink(elsewhere, root / ("muster-" + user + hash + "CCCCCC"));
    EXPECT_THAT(removed(kErrorFilesStay * 2), IsEmpty());
    fs::permissions(shared, fs::perms(0700));
    EXPECT_THAT(removed(), ElementsAre(shared.string())) << "the form that is ours";
}

TEST_F(StaleFilesTest, ErrorFilesStayForAWeek) {
    const fs::path path = kept_errors();
    ASSERT_FALSE(path.empty());
    EXPECT_THAT(removed(kErrorFilesStay - 1min), IsEmpty());
    EXPECT_THAT(removed(kErrorFilesStay + 1s), ElementsAre(path.string()));
}

}  // namespace
}  // namespace muster::run::stale_files_test
