#include <gtest/gtest.h>

#include "runtime/node.h"

// The pods of these tests start this very program again as their init.
int main(int argc, char** argv) {
    if (muster::runtime::is_pod_init(argc, argv)) return muster::runtime::run_pod_init(argc, argv);
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
