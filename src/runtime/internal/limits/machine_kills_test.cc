#include "runtime/internal/limits/machine_kills.h"

#include <gtest/gtest.h>

#include <fstream>

namespace muster::runtime::machine_kills_test {
namespace {

TEST(MachineKills, AreALineOfMany) {
    EXPECT_EQ(machine_kills_in("nr_free_pages 1\noom_kill 7\nnuma_hit 9\n"), 7U);
    EXPECT_EQ(machine_kills_in("oom_kill 7"), 7U);
    EXPECT_EQ(machine_kills_in("drop_oom_kill 7\n"), std::nullopt);
    EXPECT_EQ(machine_kills_in(""), std::nullopt);
}

TEST(MachineKills, OnlyNewOnesCount) {
    const auto path = std::filesystem::path(testing::TempDir()) / "vmstat_of_machine_kills";
    const auto write = [&](const std::string& text) { std::ofstream(path) << text; };
    write("oom_kill 3\n");
    MachineKills kills(path);
    EXPECT_FALSE(kills.rose()) << "before we began";
    write("oom_kill 5\n");
    EXPECT_TRUE(kills.rose());
    EXPECT_FALSE(kills.rose());
    write("");
    EXPECT_FALSE(kills.rose()) << "the kernel does not count";
    std::filesystem::remove(path);
}

}  // namespace
}  // namespace muster::runtime::machine_kills_test
