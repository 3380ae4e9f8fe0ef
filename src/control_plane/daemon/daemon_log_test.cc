#include "control_plane/daemon/daemon_log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/unique_fd.h"

namespace muster::control_plane::daemon_log_test {
namespace {

namespace fs = std::filesystem;

class DaemonLogTest : public ::testing::Test {
  protected:
    DaemonLogTest() {
        std::string name = (fs::temp_directory_path() / "muster-daemon-log.XXXXXX").string();
        root_ = ::mkdtemp(name.data());
        file_ = root_ / "muster.log";
        output_ = UniqueFd(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    }
    ~DaemonLogTest() override { fs::remove_all(root_); }

    DaemonLog make(std::uint64_t bytes) {
        return DaemonLog(file_, {output_.get()}, [] { return WallTime(); }, bytes);
    }
    static std::string text_of(const fs::path& path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }

    fs::path root_;
    fs::path file_;
    UniqueFd output_;
};

TEST_F(DaemonLogTest, LinesHaveTimeAndLevelAndTheFileIsPrivate) {
    std::ofstream(file_) << "of the start before\n";
    ::chmod(file_.c_str(), 0600);
    DaemonLog log = make(1000);
    ASSERT_TRUE(log.open());
    log.write(log::Level::kWarning, "something pod=\"a b\"");
    EXPECT_EQ(text_of(file_),
              "of the start before\n1970-01-01T00:00:00.000000Z warning something pod=\"a b\"\n");
    EXPECT_FALSE(fs::exists(file_.string() + ".1"));
}

TEST_F(DaemonLogTest, ItIsBoundedWhateverIsWritten) {
    DaemonLog log = make(1000);
    ASSERT_TRUE(log.open());
    for (int i = 0; i < 500; ++i) log.write(log::Level::kError, fmt::format("line {:04}", i));
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(root_)) {
        EXPECT_LE(entry.file_size(), 1000u) << entry.path();
        struct stat info{};
        ASSERT_EQ(::stat(entry.path().c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & 07777, 0600u);
        files.push_back(entry.path().filename());
    }
    EXPECT_THAT(files, testing::UnorderedElementsAre("muster.log", "muster.log.1", "muster.log.2",
                                                     "muster.log.3"));
    EXPECT_THAT(text_of(file_), testing::HasSubstr("line 0499"));
    // What others write goes into the newest file, too.
    ASSERT_EQ(::write(output_.get(), "mine\n", 5), 5);
    EXPECT_THAT(text_of(file_), testing::EndsWith("mine\n"));
}

TEST_F(DaemonLogTest, AFileThatWasDeletedOrMovedIsMadeAgain) {
    const std::function<void()> kCases[] = {
        [&] { fs::remove(file_); },
        [&] { fs::rename(file_, root_ / "rotated"); },
        [&] {
            fs::rename(file_, root_ / "rotated");
            std::ofstream{file_};
        },
    };
    DaemonLog log = make(1000);
    ASSERT_TRUE(log.open());
    for (const auto& lose_it : kCases) {
        log.write(log::Level::kError, "before");
        lose_it();
        for (const char* line : {"first", "second"}) log.write(log::Level::kError, line);
        EXPECT_THAT(text_of(file_), testing::MatchesRegex(".* warning this log was deleted or moved"
                                                          ".*\n.* first\n.* second\n"));
        ASSERT_EQ(::write(output_.get(), "mine\n", 5), 5);
        EXPECT_THAT(text_of(file_), testing::EndsWith("mine\n"));
    }
    // Without its directory there is none; nothing else is wrong.
    fs::remove_all(root_);
    log.write(log::Level::kError, "lost");
    fs::create_directories(root_);
    log.write(log::Level::kError, "there again");
    EXPECT_THAT(text_of(file_), testing::EndsWith("there again\n"));
}

TEST_F(DaemonLogTest, AFileThatAnEarlierDaemonLeftLongIsRotatedWithTheFirstLine) {
    std::ofstream(file_) << std::string(2000, 'x');
    DaemonLog log = make(1000);
    ASSERT_TRUE(log.open());
    log.write(log::Level::kInfo, "begun");
    EXPECT_EQ(fs::file_size(file_.string() + ".1"), 2000u);
    EXPECT_LT(fs::file_size(file_), 100u);
}

}  // namespace
}  // namespace muster::control_plane::daemon_log_test
