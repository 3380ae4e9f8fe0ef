#include "cli/internal/simulate/play.h"

#include <gtest/gtest.h>

namespace muster::cli::play_test {
namespace {

using namespace std::chrono_literals;

TEST(Replay, IsTheCommandThatShowsThatRun) {
    EXPECT_EQ(replay({.files = {"chaos"}}, 7), "muster simulate chaos --seed 7 --trace");
    EXPECT_EQ(replay({.files = {"my job.yaml"},
                      .manifest_flags = {"--namespace", "team-a", "--set", "a.b=it's"},
                      .nodes = 9,
                      .faults = "node-death",
                      .duration = 90s + 500ms},
                     12),
              "muster simulate 'my job.yaml' --namespace team-a --set 'a.b=it'\\''s' --nodes 9 "
              "--faults node-death --duration 90500ms --seed 12 --trace");
}

}  // namespace
}  // namespace muster::cli::play_test
