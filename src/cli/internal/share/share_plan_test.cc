#include "cli/internal/share/share_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli::share_plan_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

ShareOptions two(std::vector<std::string> command = {"python3", "train.py", "--lr", "1"}) {
    return {.processes = 2, .command = std::move(command)};
}

ShareSurroundings here() {
    return {.variables = {{"PATH", "/bin"}, {"PROCESS_NUM", "an outer one's"}},
            .machine = {.cpus = {{.id = 0, .core = 0}, {.id = 1, .core = 1}}}};
}

TEST(PlanShare, EachProcessIsToldItsIndexAndTheirNumber) {
    const SharePlan plan = plan_share(two(), here());
    ASSERT_EQ(plan.processes.size(), 2U);
    const launch::WorkerStart& second = plan.processes[1].start;
    EXPECT_THAT(second.command, ElementsAre("python3", "train.py", "--lr", "1", "--process_index",
                                            "1", "--process_num", "2"));
    EXPECT_THAT(second.environment, Contains(Pair("PROCESS_INDEX", "1")));
    EXPECT_THAT(second.environment, Contains(Pair("PATH", "/bin")));
    EXPECT_THAT(second.environment, Contains(Pair("PROCESS_NUM", "2")).Times(1));
    EXPECT_THAT(second.environment, Contains(Pair("PROCESS_NUM", testing::_)).Times(1));
    EXPECT_EQ(second.local_rank, 1);
}

TEST(PlanShare, TheNamesCanBeOthersAndTheWordsLeftAway) {
    ShareOptions options = two({"train"});
    options.index_name = "-i";
    options.count_name = "world-size";
    EXPECT_THAT(plan_share(options, here()).processes[0].start.command,
                ElementsAre("train", "-i", "0", "--world-size", "2"));
    options.words = false;
    const SharePlan plan = plan_share(options, here());
    EXPECT_THAT(plan.processes[0].start.command, ElementsAre("train"));
    EXPECT_THAT(plan.processes[0].start.environment, Contains(Pair("WORLD_SIZE", "2")));
    EXPECT_THAT(plan.processes[0].start.environment, Contains(Pair("I", "0")));
}

TEST(PlanShare, EachHasCpusOfItsOwnUnlessTheyAreShared) {
    ShareOptions options = two();
    EXPECT_THAT(plan_share(options, here()).processes[1].start.cpus, ElementsAre(1));
    options.bind = false;
    EXPECT_THAT(plan_share(options, here()).processes[1].start.cpus, IsEmpty());
}

TEST(PlanShare, TheDaemonsDirectoryReachesEach) {
    ShareOptions options = two();
    options.mps = true;
    ShareSurroundings around = here();
    around.mps_directory = "/tmp/x";
    for (const SharedProcess& process : plan_share(options, around).processes)
        EXPECT_THAT(process.start.environment, Contains(Pair("CUDA_MPS_PIPE_DIRECTORY", "/tmp/x")));
}

TEST(PlanShare, ThePlanCanBeReadAndPastedIntoAShell) {
    ShareOptions options = two({"sh", "-c", "echo $PROCESS_INDEX"});
    options.words = false;
    options.gpu_memory = {.kind = GpuMemoryWish::Kind::kNone};
    EXPECT_EQ(to_text(plan_share(options, here())),
              "process 0, on CPUs 0:\n"
              "  PROCESS_INDEX=0 PROCESS_NUM=2 sh -c 'echo $PROCESS_INDEX'\n"
              "process 1, on CPUs 1:\n"
              "  PROCESS_INDEX=1 PROCESS_NUM=2 sh -c 'echo $PROCESS_INDEX'\n");
}

}  // namespace
}  // namespace muster::cli::share_plan_test
