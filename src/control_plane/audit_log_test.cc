#include "control_plane/audit_log.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/log.h"
#include "manifest/read_files.h"

namespace muster::control_plane::audit_log_test {
namespace {

using testing::HasSubstr;

class AuditLogTest : public testing::Test {
  protected:
    AuditLogTest() {
        std::string pattern = testing::TempDir() + "audit-XXXXXX";
        directory_ = ::mkdtemp(pattern.data());
        file_ = directory_ / "audit.log";
    }
    ~AuditLogTest() override { std::filesystem::remove_all(directory_); }

    std::unique_ptr<AuditLog> open(AuditLogLimits limits = {}) const {
        auto log = AuditLog::open(file_, limits);
        EXPECT_TRUE(log.has_value()) << log.error().message();
        return *std::move(log);
    }
    std::string text(const std::string& suffix = "") const {
        const auto read = manifest::read_file(file_.string() + suffix);
        return read ? *read : "none";
    }
    static double lost(const AuditLog& log) {
        return log.metrics().at(1).metric.at(0).counter.value;
    }

    std::filesystem::path directory_;
    std::filesystem::path file_;
};

TEST_F(AuditLogTest, LinesAreAddedForItsUserAlone) {
    open()->write("a");
    ::chmod(file_.c_str(), 0644);
    const auto log = open();
    log->write("b");
    EXPECT_EQ(text(), "a\nb\n");
    EXPECT_EQ(std::filesystem::status(file_).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(AuditLogTest, AFullFileIsPutAsideAndTheOldestGoes) {
    const auto log = open({.file_bytes = 8, .kept = 2});
    for (const char* line : {"aaa", "bbb", "ccc", "ddd", "eee", "fff", "a long line", "ggg"})
        log->write(line);
    EXPECT_EQ(text(), "ggg\n");
    EXPECT_EQ(text(".1"), "a long line\n");
    EXPECT_EQ(text(".2"), "eee\nfff\n");
    EXPECT_EQ(text(".3"), "none");
    open({.file_bytes = 8, .kept = 0})->write("hhhhhhhh");
    EXPECT_EQ(text(), "hhhhhhhh\n");
}

TEST_F(AuditLogTest, WhatIsNoFileOfThisUsersIsRefused) {
    std::filesystem::create_symlink(directory_ / "elsewhere", file_);
    EXPECT_FALSE(AuditLog::open(file_, {}).has_value());
    const auto device = AuditLog::open("/dev/null", {});
    ASSERT_FALSE(device.has_value());
    EXPECT_THAT(device.error().message(), HasSubstr("/dev/null"));
    ASSERT_EQ(::mkfifo((directory_ / "pipe").c_str(), 0600), 0);
    EXPECT_FALSE(AuditLog::open(directory_ / "pipe", {}).has_value());
}

TEST_F(AuditLogTest, AFileThatWasDeletedOrMovedIsMadeAgainAndThatIsSaidOnce) {
    const std::function<void()> kCases[] = {
        [&] { std::filesystem::remove(file_); },
        [&] { std::filesystem::rename(file_, directory_ / "rotated"); },
        [&] {  // as logrotate does it with `create`
            std::filesystem::rename(file_, directory_ / "rotated");
            std::ofstream{file_};
        },
    };
    std::vector<std::string> said;
    log::set_sink([&](log::Level, std::string_view line) { said.emplace_back(line); });
    for (const auto& lose_it : kCases) {
        std::filesystem::remove(file_);
        const auto log = open();
        log->write("before");
        lose_it();
        log->write("first");
        log->write("second");
        EXPECT_EQ(text(), "first\nsecond\n");
        EXPECT_EQ(std::filesystem::status(file_).permissions(),
                  std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
        EXPECT_EQ(lost(*log), 0);
        ASSERT_EQ(said.size(), 1u);
        EXPECT_THAT(said[0], HasSubstr("the audit log was deleted or moved"));
        said.clear();
    }
    log::set_sink({});
}

TEST_F(AuditLogTest, WithoutItsDirectoryLinesAreCountedAsLost) {
    const auto log = open();
    log->write("before");
    std::filesystem::remove_all(directory_);
    log->write("lost");
    EXPECT_EQ(lost(*log), 1);
    std::filesystem::create_directories(directory_);
    log->write("there again");
    EXPECT_EQ(text(), "there again\n");
    EXPECT_EQ(lost(*log), 1);
}

/// Simulates a full disk: no file grows beyond `bytes` bytes while this exists.
class NoRoom {
  public:
    explicit NoRoom(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit{bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    ~NoRoom() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }
    NoRoom(const NoRoom&) = delete;
    NoRoom& operator=(const NoRoom&) = delete;

  private:
    rlimit before_{};
    void (*handler_)(int);
};

TEST_F(AuditLogTest, OnAFullDiskLinesStayWholeAndLostOnesAreCounted) {
    const auto log = open();
    log->write("first");
    {
        const NoRoom full(10);
        log->write("half of this would fit");
        log->write("nor this");
        EXPECT_EQ(text(), "first\n");
        EXPECT_EQ(lost(*log), 2);
    }
    log->write("last");
    EXPECT_EQ(text(), "first\nlast\n");
    EXPECT_EQ(lost(*log), 2);
}

}  // namespace
}  // namespace muster::control_plane::audit_log_test
