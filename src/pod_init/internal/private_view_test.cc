#include "pod_init/internal/private_view.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/unique_fd.h"
#include "process/nobody_fixture.h"

namespace muster::pod_init::private_view_test {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string content(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

/// As root, and as an ordinary user in a namespace of its own.
class PrivateFilesTest : public ::testing::TestWithParam<bool> {
  protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "mounts are tested as root here";
        if (GetParam() && !process::nobody_may_make_user_namespaces())
            GTEST_SKIP() << "ordinary users may not make user namespaces here";
        std::string pattern = "/var/tmp/muster-private-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        dir = pattern;
        for (const char* name : {"scratch", "store", "kept", "data", "work"}) {
            fs::create_directory(dir / name);
            fs::permissions(dir / name, fs::perms::all);
        }
        std::ofstream(dir / "data/old") << "old\n";
        if (GetParam())
            for (const fs::path& path : {dir, dir / "data", dir / "data/old", dir / "work"})
                ASSERT_EQ(::chown(path.c_str(), process::kNobody, process::kNobody), 0);
        files.scope = PrivateFiles::Scope::kMachine;
        files.scratch = dir / "scratch";
        files.bytes = 1 << 20;
        files.kept = {dir / "kept", dir / "scratch"};
    }
    void TearDown() override {
        if (!dir.empty()) fs::remove_all(dir);
    }

    /// Runs `script` where the files are private; what it prints, or why it could not.
    std::string run(const std::string& script) {
        const fs::path output = dir / "kept/output";
        std::ofstream(output).flush();
        fs::permissions(output, fs::perms(0666));
        const pid_t child = ::fork();
        if (child == 0) {
            const UniqueFd out(::open(output.c_str(), O_WRONLY | O_APPEND));
            ::dup2(out.get(), STDOUT_FILENO);
            ::dup2(out.get(), STDERR_FILENO);
            const std::string problem = enter();
            if (problem.empty())
                ::execl("/bin/sh", "sh", "-c", script.c_str(), static_cast<char*>(nullptr));
            (void)!::write(out.get(), problem.data(), problem.size());
            ::_exit(1);
        }
        ::waitpid(child, nullptr, 0);
        return content(output);
    }
    std::string enter() const {
        if (GetParam()) {
            if (!process::become_nobody()) return "could not become nobody";
            if (!process::enter_user_namespace()) return "no user namespaces";
        }
        if (::unshare(CLONE_NEWNS) != 0) return "no mount namespace";
        if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return "not private";
        const auto done = set_up_private_files(files);
        return done ? std::string() : done.error().message();
    }

    fs::path dir;
    PrivateFiles files;
};

TEST_P(PrivateFilesTest, WhatIsWrittenIsSeenInsideAndNotOutside) {
    const std::string at = dir;
    const std::string output = run(
        "cd " + at + "/data && cat old && echo new >old && echo more >file && cat old file && " +
        "rm old && ls && echo stays >../kept/file && stat -f -c %T . && test -r /proc/self/stat" +
        " && echo x >/dev/null && echo done");
    EXPECT_EQ(output, "old\nnew\nmore\nfile\noverlayfs\ndone\n");
    EXPECT_EQ(content(dir / "data/old"), "old\n");
    EXPECT_FALSE(fs::exists(dir / "data/file"));
    EXPECT_EQ(content(dir / "kept/file"), "stays\n");
}

TEST_P(PrivateFilesTest, TheSizeIsCapped) {
    const std::string output =
        run("dd if=/dev/zero of=" + (dir / "data/big").string() + " bs=64k count=64 2>&1; rm " +
            (dir / "data/big").string() + "; echo small >" + (dir / "data/small").string() +
            " && echo ok");
    EXPECT_THAT(output, HasSubstr("No space left on device"));
    EXPECT_THAT(output, HasSubstr("ok\n"));
}

TEST_P(PrivateFilesTest, WhatIsWrittenIsKeptWhereAsked) {
    files.store = dir / "store";
    files.kept.push_back(files.store);
    EXPECT_EQ(run("echo result >" + (dir / "data/result").string()), "");
    bool found = false;
    for (const fs::directory_entry& entry : fs::directory_iterator(dir / "store"))
        for (const fs::directory_entry& file :
             fs::recursive_directory_iterator(entry, fs::directory_options::skip_permission_denied))
            found |= file.path().filename() == "result" && content(file) == "result\n";
    EXPECT_TRUE(found);
    EXPECT_FALSE(fs::exists(dir / "data/result"));
}

TEST_P(PrivateFilesTest, OneDirectoryAlone) {
    files.scope = PrivateFiles::Scope::kDirectory;
    files.directory = dir / "data";
    EXPECT_EQ(run("cd " + files.directory + " && cat old && echo x >mine && echo y >" +
                  (dir / "work/shared").string() + " && ls"),
              "old\nmine\nold\n");
    EXPECT_FALSE(fs::exists(dir / "data/mine"));
    EXPECT_EQ(content(dir / "work/shared"), "y\n");
}

INSTANTIATE_TEST_SUITE_P(Users, PrivateFilesTest, ::testing::Bool(),
                         [](const auto& user) { return user.param ? "Nobody" : "Root"; });

}  // namespace
}  // namespace muster::pod_init::private_view_test
