#include "runtime/internal/files/pod_files.h"

#include <gtest/gtest.h>

namespace muster::runtime::pod_files_test {
namespace {

TEST(PodOfDirectory, IsInItsName) {
    const auto pod = pod_of_directory("default_trains-master-0_6f1e-42");
    ASSERT_TRUE(pod);
    EXPECT_EQ(pod->namespace_, "default");
    EXPECT_EQ(pod->name, "trains-master-0");
    EXPECT_EQ(pod->uid, "6f1e-42");
    for (const char* other : {"", "a", "a_b", "a_b_", "_b_c", "a__c"})
        EXPECT_FALSE(pod_of_directory(other)) << other;
}

}  // namespace
}  // namespace muster::runtime::pod_files_test
