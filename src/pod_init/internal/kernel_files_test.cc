#include "pod_init/internal/kernel_files.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "process/nobody_fixture.h"

namespace muster::pod_init::kernel_files_test {
namespace {

namespace fs = std::filesystem;

bool can_write(const fs::path& path) { return ::access(path.c_str(), W_OK) == 0; }

/// As an ordinary user in a user namespace of its own; "" or what went wrong.
std::string become_nobody_in_a_namespace() {
    if (!process::become_nobody()) return "could not become nobody";
    if (!process::enter_user_namespace() || ::unshare(CLONE_NEWNS) != 0) return "no namespaces";
    return "";
}

/// In a process of its own with private mounts, the body says what is wrong.
template <class Body>
std::string in_a_mount_namespace(Body body) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        std::string wrong = "no mount namespace";
        if (::unshare(CLONE_NEWNS) == 0 &&
            ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0)
            wrong = body();
        (void)!::write(ends[1], wrong.data(), wrong.size());
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string text(4096, '\0');
    const ssize_t size = ::read(ends[0], text.data(), text.size());
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    return text;
}

class KernelFilesTest : public ::testing::TestWithParam<bool> {
  protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "mounts are tested as root here";
        if (GetParam() && !process::nobody_may_make_user_namespaces())
            GTEST_SKIP() << "ordinary users may not make user namespaces here";
        std::string pattern = "/var/tmp/muster-frozen-XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        dir = pattern;
        fs::permissions(dir, fs::perms(0755));
        for (const char* name :
             {"open", "closed", "closed/inside", "free", "covered", "covered/mount"})
            fs::create_directory(dir / name);
        fs::permissions(dir / "open", fs::perms(0777));
        fs::permissions(dir / "free", fs::perms(0777));
        fs::permissions(dir / "closed", fs::perms(0700));
    }
    void TearDown() override {
        if (!dir.empty()) fs::remove_all(dir);
    }

    fs::path dir;
};

TEST_P(KernelFilesTest, EverythingThatCanBeReachedIsFrozenButForWhatIsWritable) {
    const auto wrong = in_a_mount_namespace([this]() -> std::string {
        for (const char* name : {"open", "closed/inside", "free"})
            if (::mount("tmpfs", (dir / name).c_str(), "tmpfs", 0, "mode=0777") != 0)
                return "no tmpfs";
        // As the machine's /sys/kernel/tracing is hidden by the pod's own /sys, which has such a
        // directory too.
        for (const char* name : {"covered/mount", "covered"})
            if (::mount("tmpfs", (dir / name).c_str(), "tmpfs", 0, "mode=0755") != 0)
                return "no tmpfs";
        fs::create_directory(dir / "covered/mount");
        if (GetParam())
            if (std::string why = become_nobody_in_a_namespace(); !why.empty()) return why;
        if (!can_write(dir / "open")) return "not writable before";
        const auto frozen = freeze_mounts({(dir / "free").string()});
        if (!frozen) return frozen.error().message();
        if (can_write(dir / "open") || errno != EROFS) return "a mount is still writable";
        if (can_write("/var/tmp") || errno != EROFS) return "the root is still writable";
        if (!can_write(dir / "free")) return "what is to be writable is not";
        if (!can_write("/dev/null")) return "/dev/null is not writable";
        return "fine";
    });
    EXPECT_EQ(wrong, "fine");
}

INSTANTIATE_TEST_SUITE_P(Users, KernelFilesTest, ::testing::Bool(),
                         [](const auto& user) { return user.param ? "Nobody" : "Root"; });

}  // namespace
}  // namespace muster::pod_init::kernel_files_test
