#include "runtime/internal/network/egress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/test_loop.h"
#include "base/unique_fd.h"

namespace muster::runtime::egress_test {
namespace {

namespace fs = std::filesystem;

/// In the place of pasta, whose PATH the test chooses.
class EgressTest : public ::testing::Test {
  protected:
    EgressTest() {
        std::string name = ::testing::TempDir() + "muster-egress-XXXXXX";
        root_ = ::mkdtemp(name.data());
    }
    ~EgressTest() override { fs::remove_all(root_); }

    void write_pasta(const std::string& script) {
        std::ofstream(root_ / "pasta") << "#!/bin/sh\nROOT=" << root_.string() << '\n' << script;
        ::chmod((root_ / "pasta").c_str(), 0755);
    }
    std::vector<std::string> environment() const {
        return {"PATH=" + root_.string() + ":/usr/bin:/bin"};
    }
    /// What the script wrote there; it is another process, which tells nothing.
    pid_t pid_in(const std::string& name) {
        pid_t pid = 0;
        for (int tries = 0; tries < 20'000 && !(std::ifstream(root_ / name) >> pid); ++tries)
            loop.await(loop.clock.sleep_for(std::chrono::milliseconds(1)));
        return pid;
    }

    std::string text_of(const std::string& name) const {
        std::ifstream file(root_ / name);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    RealLoop loop;

  private:
    fs::path root_;
};

// pasta forks for a moment when it starts.
TEST_F(EgressTest, WhatPastaForkedEndsWithIt) {
    if (::geteuid() != 0) GTEST_SKIP() << "namespaces are tested as root here";
    PodFabric fabric = PodFabric::create().value();
    write_pasta("sleep 1000 &\necho $! >$ROOT/new\nmv $ROOT/new $ROOT/forked\nwait\n");
    auto way = Egress::open(loop.context.get_executor(), fabric, environment(), false);
    ASSERT_TRUE(way) << way.error().message();
    const pid_t forked = pid_in("forked");
    ASSERT_GT(forked, 0);
    ASSERT_EQ(::kill(forked, 0), 0);
    way->reset();
    // Its memory at least: who reaps it is another process.
    std::ifstream words(fmt::format("/proc/{}/cmdline", forked));
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(words), {}), "");
}

// As after `kill -9` of `muster up`: the network and the routes in it are those of before.
TEST_F(EgressTest, OpensAgainInTheNetworkOfAnEarlierProcess) {
    if (::geteuid() != 0) GTEST_SKIP() << "namespaces are tested as root here";
    PodFabric fabric = PodFabric::create().value();
    write_pasta("read -r wait\n");
    for (int life = 0; life < 2; ++life) {
        auto way = Egress::open(loop.context.get_executor(), fabric, environment(), false);
        ASSERT_TRUE(way) << "life " << life << ": " << way.error().message();
    }
}

// A lock of whoever started us would be held for as long as it runs.
TEST_F(EgressTest, PastaInheritsNoDescriptors) {
    if (::geteuid() != 0) GTEST_SKIP() << "namespaces are tested as root here";
    const UniqueFd inherited(::open("/dev/zero", O_RDONLY));  // without close-on-exec
    PodFabric fabric = PodFabric::create().value();
    write_pasta(
        "ls -l /proc/$$/fd >$ROOT/open\necho $$ >$ROOT/new\nmv $ROOT/new $ROOT/began\nread -r "
        "wait\n");
    auto way = Egress::open(loop.context.get_executor(), fabric, environment(), false);
    ASSERT_TRUE(way) << way.error().message();
    ASSERT_GT(pid_in("began"), 0);
    EXPECT_THAT(text_of("open"), ::testing::Not(::testing::HasSubstr("/dev/zero")));
    EXPECT_THAT(text_of("open"), ::testing::HasSubstr("pipe:"));
}

}  // namespace
}  // namespace muster::runtime::egress_test
