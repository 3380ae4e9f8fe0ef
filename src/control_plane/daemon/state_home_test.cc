#include "control_plane/daemon/state_home.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace muster::control_plane::state_home_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class StateHomeTest : public ::testing::Test {
  protected:
    StateHomeTest() {
        std::string name = (fs::temp_directory_path() / "muster-home-test.XXXXXX").string();
        root_ = ::mkdtemp(name.data());
    }
    ~StateHomeTest() override { fs::remove_all(root_); }

    static mode_t mode_of(const fs::path& path) {
        struct stat info{};
        EXPECT_EQ(::stat(path.c_str(), &info), 0) << path;
        return info.st_mode & 07777;
    }

    fs::path root_;
};

TEST_F(StateHomeTest, IsPrivateAndHeldByOne) {
    const fs::path path = root_ / "a" / "home";
    EXPECT_FALSE(find_daemon(path)->has_value());
    {
        auto home = StateHome::take(path);
        ASSERT_TRUE(home.has_value()) << home.error().message();
        EXPECT_EQ(mode_of(path), 0700);
        EXPECT_EQ(mode_of(path / "lock"), 0600);
        const auto second = StateHome::take(path);
        ASSERT_FALSE(second.has_value());
        EXPECT_EQ(second.error().code(), Code::kAlreadyExists);
        EXPECT_THAT(second.error().message(), HasSubstr(std::to_string(::getpid())));

        auto daemon = find_daemon(path);
        ASSERT_TRUE(daemon->has_value());
        EXPECT_EQ((**daemon).pid, ::getpid());
        EXPECT_EQ((**daemon).address, "");
        ASSERT_TRUE(home->announce({.pid = 7, .address = "https://127.0.0.1:1234567890"}));
        ASSERT_TRUE(home->announce({.pid = 42, .address = "https://x"}));
        daemon = find_daemon(path);
        EXPECT_EQ((**daemon).pid, 42);
        EXPECT_EQ((**daemon).address, "https://x");
        EXPECT_EQ((**daemon).version, "");
        ASSERT_TRUE(home->announce({.pid = 42, .address = "https://x", .version = "1.2"}));
        EXPECT_EQ((**find_daemon(path)).version, "1.2");
    }
    EXPECT_FALSE(find_daemon(path)->has_value());
    EXPECT_TRUE(StateHome::take(path).has_value());
}

TEST_F(StateHomeTest, ADaemonAndItsSupervisorHoldALockEach) {
    const fs::path path = root_ / "home";
    const auto supervisor = StateHome::take(path, StateLock::kSupervisor);
    ASSERT_TRUE(supervisor.has_value()) << supervisor.error().message();
    EXPECT_FALSE(find_daemon(path)->has_value());
    EXPECT_EQ((**find_daemon(path, StateLock::kSupervisor)).pid, ::getpid());
    {
        const auto daemon = StateHome::take(path);
        ASSERT_TRUE(daemon.has_value()) << daemon.error().message();
        ASSERT_TRUE(daemon->announce({.pid = 42, .address = "https://x"}));
        EXPECT_EQ((**find_daemon(path)).pid, 42);
        EXPECT_EQ((**find_daemon(path, StateLock::kSupervisor)).pid, ::getpid());
    }
    EXPECT_FALSE(find_daemon(path)->has_value());
    const auto second = StateHome::take(path, StateLock::kSupervisor);
    ASSERT_FALSE(second.has_value());
    EXPECT_THAT(second.error().message(), HasSubstr("supervised already"));
}

TEST_F(StateHomeTest, ADirectoryThatOthersMayChangeIsRefused) {
    const fs::path path = root_ / "open";
    fs::create_directory(path);
    ASSERT_EQ(::chmod(path.c_str(), 0770), 0);
    const auto home = StateHome::take(path);
    ASSERT_FALSE(home.has_value());
    EXPECT_EQ(home.error().code(), Code::kForbidden);
    EXPECT_THAT(home.error().message(), HasSubstr("chmod 700"));
    std::ofstream(root_ / "file") << "x";
    EXPECT_FALSE(StateHome::take(root_ / "file").has_value());
}

TEST_F(StateHomeTest, ALinkOfAnotherUserIsRefusedAndOneOfOursFollowed) {
    const fs::path link = root_ / "link";
    fs::create_directory(root_ / "real");
    ASSERT_EQ(::chmod((root_ / "real").c_str(), 0700), 0);
    fs::create_directory_symlink(root_ / "real", link);
    EXPECT_TRUE(StateHome::take(link).has_value());
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
    ASSERT_EQ(::lchown(link.c_str(), 65534, 65534), 0);
    const auto home = StateHome::take(link);
    ASSERT_FALSE(home.has_value());
    EXPECT_EQ(home.error().code(), Code::kForbidden);
    EXPECT_THAT(home.error().message(), HasSubstr("belongs to another user"));
}

TEST_F(StateHomeTest, FilesAreReplacedAsAWholeAndPrivate) {
    auto home = StateHome::take(root_ / "home");
    ASSERT_TRUE(home.has_value());
    EXPECT_EQ(*home->read("token"), std::nullopt);
    std::ofstream(root_ / "home" / "token") << "old and long";
    ASSERT_EQ(::chmod((root_ / "home" / "token").c_str(), 0644), 0);
    ASSERT_TRUE(home->write("token", "new"));
    EXPECT_EQ(**home->read("token"), "new");
    EXPECT_EQ(mode_of(root_ / "home" / "token"), 0600);
    EXPECT_FALSE(fs::exists(root_ / "home" / "token.new"));
    const std::string large(1 << 20, 'x');
    ASSERT_TRUE(home->write("large", large));
    EXPECT_EQ(**home->read("large"), large);
}

TEST_F(StateHomeTest, AFileElsewhereGetsADirectory) {
    const fs::path path = root_ / "new" / "deeper" / "config";
    ASSERT_TRUE(write_private_file(path, "text"));
    EXPECT_EQ(mode_of(path.parent_path()), 0700);
}

TEST(StatePath, IsInTheHomeDirectoryUnlessSaidOtherwise) {
    const Caller caller{.working_dir = "/w", .environment = {"HOME=/home/ann"}};
    EXPECT_EQ(state_path("", caller), "/home/ann/.muster");
    EXPECT_EQ(state_path("/x/y", caller), "/x/y");
    EXPECT_TRUE(state_path("y", caller).is_absolute());
    const Caller service{.working_dir = "/w", .environment = {}, .user_home = "/home/bob"};
    EXPECT_EQ(state_path("", service), "/home/bob/.muster");
    EXPECT_EQ(state_path("", {.working_dir = "/w", .environment = {"HOME="}}), "/.muster");
    EXPECT_EQ(current_caller().user_home.substr(0, 1), "/");
}

}  // namespace
}  // namespace muster::control_plane::state_home_test
