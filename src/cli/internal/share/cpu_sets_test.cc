#include "cli/internal/share/cpu_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace muster::cli::cpu_sets_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Numbered as Linux does it: first one CPU of each core, then the second ones.
launch::Topology machine(std::uint32_t nodes, std::uint32_t cores, std::uint32_t threads) {
    launch::Topology made;
    const std::uint32_t all = nodes * cores;
    for (std::uint32_t id = 0; id < all * threads; ++id) {
        const std::uint32_t core = id % all;
        const std::uint32_t node = core / cores;
        made.cpus.push_back(
            {.id = id, .node = node, .socket = node, .core = core, .cache = node * cores});
    }
    return made;
}

TEST(SplitCpus, ProcessesGetWholeCores) {
    EXPECT_THAT(split_cpus(machine(1, 4, 2), 2),
                ElementsAre(ElementsAre(0, 1, 4, 5), ElementsAre(2, 3, 6, 7)));
    EXPECT_THAT(split_cpus(machine(1, 2, 2), 2), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
}

TEST(SplitCpus, ProcessesStayInTheirNodeWhereTheNumbersAllow) {
    EXPECT_THAT(split_cpus(machine(2, 2, 1), 2), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
    // Nodes whose CPUs alternate, as some machines number them.
    launch::Topology mixed = machine(1, 4, 1);
    for (launch::Cpu& cpu : mixed.cpus) cpu.node = cpu.id % 2;
    EXPECT_THAT(split_cpus(mixed, 2), ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
}

TEST(SplitCpus, FewerCoresThanProcessesAreDividedByThread) {
    EXPECT_THAT(split_cpus(machine(1, 1, 2), 2), ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST(SplitCpus, NothingIsBoundWhereThereIsNothingToDivide) {
    EXPECT_THAT(split_cpus(machine(1, 4, 1), 1), IsEmpty());
    EXPECT_THAT(split_cpus(machine(1, 1, 2), 3), IsEmpty());
    EXPECT_THAT(split_cpus({}, 2), IsEmpty());
    EXPECT_THAT(split_cpus(machine(1, 4, 1), 0), IsEmpty());
}

TEST(SplitCpus, EveryCpuIsInOneSetAndNoneIsEmpty) {
    for (const int processes : {2, 3, 5, 7, 13, 16}) {
        const launch::Topology whole = machine(2, 8, 2);
        const auto sets = split_cpus(whole, processes);
        ASSERT_EQ(sets.size(), static_cast<std::size_t>(processes));
        std::set<std::uint32_t> seen;
        std::size_t least = whole.cpus.size();
        std::size_t most = 0;
        for (const auto& set : sets) {
            for (const std::uint32_t id : set) EXPECT_TRUE(seen.insert(id).second) << id;
            least = std::min(least, set.size());
            most = std::max(most, set.size());
        }
        EXPECT_EQ(seen.size(), whole.cpus.size());
        EXPECT_GT(least, 0U);
        EXPECT_LE(most - least, 2U) << "by one core";
    }
}

}  // namespace
}  // namespace muster::cli::cpu_sets_test
