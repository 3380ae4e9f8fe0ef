#include "base/nearest_name.h"

#include <gtest/gtest.h>

namespace muster::nearest_name_test {
namespace {

TEST(NearestName, Table) {
    struct Row {
        std::string unknown;
        std::vector<std::string> candidates;
        std::string nearest;
    };
    const Row kRows[] = {
        {"replicas", {"replicas"}, "replicas"},
        {"replica", {"replicas", "restartPolicy"}, "replicas"},
        {"Replicas", {"replicas"}, "replicas"},
        {"restart_policy", {"restartPolicy"}, "restartPolicy"},
        {"restart-policy", {"restartPolicy"}, "restartPolicy"},
        {"cleanPodPolcy", {"cleanPodPolicy", "schedulingPolicy"}, "cleanPodPolicy"},
        {"pytorchReplicaSpec", {"pytorchReplicaSpecs", "runPolicy"}, "pytorchReplicaSpecs"},
        {"worker", {"Master", "Worker"}, "Worker"},
        {"teh", {"the", "ten"}, "ten"},
        {"ab", {"ba", "cd"}, ""},  // too short to tell
        {"x", {"y"}, ""},
        {"image", {"command", "args"}, ""},
        {"", {"a"}, ""},
        {"a", {}, ""},
        {std::string(10'000, 'a'), {"a"}, ""},
    };
    for (const Row& row : kRows)
        EXPECT_EQ(nearest_name(row.unknown, row.candidates), row.nearest) << row.unknown;
}

}  // namespace
}  // namespace muster::nearest_name_test
