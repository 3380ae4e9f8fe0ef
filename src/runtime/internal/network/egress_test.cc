#include "runtime/internal/network/egress.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/test_loop.h"

namespace muster::runtime {
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

}  // namespace
}  // namespace muster::runtime
