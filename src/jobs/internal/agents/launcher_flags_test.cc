#include "jobs/internal/agents/launcher_flags.h"

#include <gtest/gtest.h>

namespace muster::jobs::launcher_flags_test {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

struct FlagsRow {
    std::string name;
    Words command;
    std::optional<std::int32_t> fewest = std::nullopt;
    std::optional<std::chrono::seconds> join = std::nullopt;
};
class ReadLauncherFlags : public ::testing::TestWithParam<FlagsRow> {};

TEST_P(ReadLauncherFlags, OfACommandInAJobOfFourNodes) {
    const FlagsRow& row = GetParam();
    const LauncherFlags flags = read_launcher_flags(row.command, 4);
    EXPECT_EQ(flags.fewest_nodes, row.fewest);
    EXPECT_EQ(flags.join_timeout, row.join);
}

INSTANTIATE_TEST_SUITE_P(
    Commands, ReadLauncherFlags,
    ::testing::Values(
        FlagsRow{"ARange", {"torchrun", "--nnodes=2:4", "train.py"}, 2},
        FlagsRow{"ANumber", {"torchrun", "--nnodes", "3", "train.py"}, 3},
        FlagsRow{
            "InAShell", {"bash", "-c", "cd /work && dlrover-run --nnodes=3:$NODE_NUM train.py"}, 3},
        FlagsRow{"InQuotes", {"sh", "-c", "torchrun --nnodes=\"2:${NODE_NUM}\" train.py"}, 2},
        FlagsRow{"AllNodes", {"sh", "-c", "dlrover-run --nnodes=$NODE_NUM train.py"}, 4},
        FlagsRow{"AllNodesAsKubernetesReplacesThem",
                 {"torchrun", "--nnodes=$(WORKER_NUM)", "train.py"},
                 4},
        FlagsRow{"AShellInAShell",
                 {"bash", "-c", "bash -c 'torchrun --nnodes 2:4 train.py' | tee log"},
                 2},
        FlagsRow{"TheFirstCallCounts",
                 {"sh", "-c", "torchrun --nnodes 2 a.py; torchrun --nnodes 3 b.py"},
                 2},
        FlagsRow{
            "OfAModule", {"python", "-m", "torch.distributed.run", "--nnodes=2", "train.py"}, 2},
        FlagsRow{"OfTheProgram", {"torchrun", "train.py", "--nnodes=2"}},
        FlagsRow{"OfAModuleToRun", {"torchrun", "-m", "train", "--nnodes=2"}},
        FlagsRow{"OfAVariableThatIsNotKnown", {"sh", "-c", "torchrun --nnodes=$N train.py"}},
        FlagsRow{"NoNumber", {"torchrun", "--nnodes=-1:4", "train.py"}},
        FlagsRow{"TooLarge", {"torchrun", "--nnodes=99999999999", "train.py"}},
        FlagsRow{"WithoutAValue", {"torchrun", "--nnodes"}},
        FlagsRow{"AQuoteThatIsNotClosed", {"sh", "-c", "torchrun --nnodes=2 'train.py"}},
        FlagsRow{"AScript", {"bash", "train.sh", "--nnodes=2"}}, FlagsRow{"NoCommand", {}},
        FlagsRow{
            "HowLongItWaits",
            {"dlrover-run", "--nnodes=1", "--rdzv-conf", "is_host=1,join_timeout=1200", "a.py"},
            1,
            1200s},
        FlagsRow{"HowLongItWaitsInTorchsWords",
                 {"torchrun", "--rdzv_conf=timeout=300", "a.py"},
                 std::nullopt,
                 300s},
        FlagsRow{"AWaitThatIsNoNumber",
                 {"torchrun", "--rdzv-conf=join_timeout=long,,=,x", "a.py"}}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace muster::jobs::launcher_flags_test
