#include "launch/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launch::environment_test {
namespace {

using testing::HasSubstr;

/// Slots 10, 20, ...: a place in the world is not the slot.
job_protocol::World world_of(const std::vector<int>& sizes) {
    job_protocol::World world{.generation = {2, 4}, .members = {}, .restarts = 3};
    int first = 0;
    for (const int size : sizes) {
        const int slot = static_cast<int>(world.members.size() + 1) * 10;
        world.members.push_back({slot, "i", "10.0.0.1", size, first, world.nodes++});
        first += size;
        world.ranks = first;
    }
    return world;
}

LaunchPlan plan_of(std::vector<std::string> words) {
    words.emplace_back("a.py");
    words.emplace_back("--rank=${local_rank}");
    const auto parsed = parse_launch_flags(LaunchCommand::kTorchrun, words, {});
    return *make_launch_plan(std::get<LaunchFlags>(*parsed), {}, {.python = "python"});
}

std::string at(const WorkerStart& start, std::string_view name) {
    const std::string* const text = find_variable(start.environment, name);
    return text == nullptr ? "(not set)" : *text;
}

Result<WorkerStart> start(const LaunchPlan& plan, const std::vector<int>& sizes, int slot,
                          int local_rank, const Variables& base = {},
                          const Endpoint& store = {"10.0.0.1", 4711}) {
    const job_protocol::World world = world_of(sizes);
    return worker_start({plan, world, slot, store, "/jobs/j"}, local_rank, base);
}

TEST(WorkerStartOf, HasItsPlaceInTheWorld) {
    struct Row {
        std::vector<int> sizes;
        int slot;
        int local_rank;
        std::vector<std::string> places;  ///< as kNames has them
    };
    const char* const kNames[] = {
        "LOCAL_RANK",       "RANK",       "GROUP_RANK",       "ROLE_RANK",
        "LOCAL_WORLD_SIZE", "WORLD_SIZE", "GROUP_WORLD_SIZE", "ROLE_WORLD_SIZE"};
    const Row kRows[] = {
        {{1}, 10, 0, {"0", "0", "0", "0", "1", "1", "1", "1"}},
        {{4}, 10, 0, {"0", "0", "0", "0", "4", "4", "1", "4"}},
        {{4}, 10, 3, {"3", "3", "0", "3", "4", "4", "1", "4"}},
        {{4, 4}, 10, 1, {"1", "1", "0", "1", "4", "8", "2", "8"}},
        {{4, 4}, 20, 0, {"0", "4", "1", "4", "4", "8", "2", "8"}},
        {{2, 4}, 10, 1, {"1", "1", "0", "1", "2", "6", "2", "6"}},
        {{2, 4}, 20, 0, {"0", "2", "1", "2", "4", "6", "2", "6"}},
        {{2, 4}, 20, 3, {"3", "5", "1", "5", "4", "6", "2", "6"}},
    };
    const LaunchPlan plan = plan_of({"--max-restarts=3", "--rdzv-id=job", "--role=trainer"});
    for (const Row& row : kRows) {
        const auto worker = start(plan, row.sizes, row.slot, row.local_rank);
        ASSERT_TRUE(worker);
        for (std::size_t i = 0; i < row.places.size(); ++i)
            EXPECT_EQ(at(*worker, kNames[i]), row.places[i]) << kNames[i];
        EXPECT_EQ(worker->local_rank, row.local_rank);
        EXPECT_EQ(std::to_string(worker->rank), row.places[1]);
        EXPECT_EQ(at(*worker, "OMP_NUM_THREADS"), row.places[4] == "1" ? "(not set)" : "1");
        EXPECT_EQ(worker->command,
                  (std::vector<std::string>{"python", "-u", "a.py",
                                            fmt::format("--rank={}", row.local_rank)}));
    }
}

TEST(WorkerStartOf, BeginsInASpareOnlyWhereThatIsAskedFor) {
    EXPECT_EQ(start(plan_of({}), {1}, 10, 0)->spare_words, 0);
    EXPECT_EQ(start(plan_of({"--warm"}), {1}, 10, 0)->spare_words, 3);
}

TEST(WorkerStartOf, HasTorchsAndDlroversVariables) {
    const LaunchPlan plan = plan_of({"--max-restarts=3", "--rdzv-id=job", "--role=trainer"});
    const auto worker = start(plan, {2, 4}, 20, 0);
    const std::pair<const char*, const char*> kRows[] = {
        {"ROLE_NAME", "trainer"},
        {"MASTER_ADDR", "10.0.0.1"},
        {"MASTER_PORT", "4711"},
        {"TORCHELASTIC_RESTART_COUNT", "3"},
        {"TORCHELASTIC_MAX_RESTARTS", "3"},
        {"TORCHELASTIC_RUN_ID", "job"},
        {"TORCHELASTIC_USE_AGENT_STORE", "True"},
        {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"},
        {"NCCL_ASYNC_ERROR_HANDLING", "1"},
        {"DLROVER_PARAL_CONFIG_PATH", "/jobs/j/auto_paral_config.json"},
        {"RUNTIME_METRICS_PATH", "/jobs/j/runtime_metrics.json"},
        {"MUSTER_GENERATION", "2.4"},
        {"MUSTER_SLOT", "20"},
        {"MUSTER_HOOK", "1"},
        {"CUDA_VISIBLE_DEVICES", "(not set)"},
    };
    for (const auto& [name, text] : kRows) EXPECT_EQ(at(*worker, name), text) << name;
    EXPECT_EQ(at(*start(plan_of({}), {1}, 10, 0), "ROLE_NAME"), "default");
    EXPECT_EQ(at(*start(plan, {1}, 10, 0, {}, {"fd00::1", 1}), "MASTER_ADDR"), "fd00::1");
    EXPECT_EQ(at(*start(plan, {1}, 10, 0, {}, {"127.0.0.1", 1}), "MASTER_ADDR"), "localhost");
}

TEST(WorkerStartOf, IsOverTheAgentsEnvironment) {
    const Variables base = {{"PATH", "/bin"},
                            {"RANK", "17"},
                            {"OMP_NUM_THREADS", "8"},
                            {"NCCL_ASYNC_ERROR_HANDLING", "0"},
                            {"CUDA_VISIBLE_DEVICES", "2,3"},
                            {"RANK", "18"}};
    const auto worker = start(plan_of({}), {2}, 10, 1, base);
    ASSERT_TRUE(worker);
    EXPECT_EQ(at(*worker, "PATH"), "/bin");
    EXPECT_EQ(at(*worker, "RANK"), "1");
    EXPECT_EQ(at(*worker, "OMP_NUM_THREADS"), "8");
    EXPECT_EQ(at(*worker, "NCCL_ASYNC_ERROR_HANDLING"), "0");
    EXPECT_EQ(at(*worker, "CUDA_VISIBLE_DEVICES"), "2,3");
    EXPECT_EQ(std::ranges::count(worker->environment, "RANK",
                                 &std::pair<std::string, std::string>::first),
              1);
}

TEST(WorkerStartOf, SeesOneDevice) {
    const LaunchPlan plan = plan_of({"--virtual-local-rank"});
    const auto all = start(plan, {2}, 10, 1);
    EXPECT_EQ(at(*all, "LOCAL_RANK"), "0");
    EXPECT_EQ(at(*all, "CUDA_VISIBLE_DEVICES"), "1");
    EXPECT_EQ(all->command.back(), "--rank=1");
    const Variables base = {{"CUDA_VISIBLE_DEVICES", "GPU-a, GPU-b"}};
    EXPECT_EQ(at(*start(plan, {2}, 10, 1, base), "CUDA_VISIBLE_DEVICES"), "GPU-b");
    EXPECT_THAT(start(plan, {3}, 10, 2, base).error().message(),
                HasSubstr("CUDA_VISIBLE_DEVICES=GPU-a, GPU-b: --virtual-local-rank needs"));
}

}  // namespace
}  // namespace muster::launch::environment_test
