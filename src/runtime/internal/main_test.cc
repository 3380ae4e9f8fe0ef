#include <gtest/gtest.h>

#include "runtime/node.h"

// The pods of these tests start this very program again as their init.
int main(int argc, char** argv) {
    if (const auto status = muster::runtime::run_as_part_of_a_node(argc, argv)) return *status;
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
