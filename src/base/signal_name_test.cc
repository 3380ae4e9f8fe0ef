#include "base/signal_name.h"

#include <gtest/gtest.h>

#include <csignal>

namespace muster {
namespace {

TEST(SignalName, IsTheOneThatPeopleUse) {
    EXPECT_EQ(signal_name(SIGKILL), "SIGKILL");
    EXPECT_EQ(signal_name(SIGABRT), "SIGABRT");
    EXPECT_EQ(signal_name(42), "signal 42");
    EXPECT_EQ(signal_name(0), "signal 0");
}

}  // namespace
}  // namespace muster
