#include <gtest/gtest.h>
#include <signal.h>

#include "runtime/cleanup_process.h"

// The cleanup processes of these tests are this very program.
int main(int argc, char** argv) {
    if (const auto status = muster::runtime::run_as_cleanup_process(argc, argv)) return *status;
    // As the program does: a command that reads no more is seen as a failed write.
    ::signal(SIGPIPE, SIG_IGN);
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
