#include "base/signal_name.h"

#include <gtest/gtest.h>

#include <csignal>

namespace muster::signal_name_test {
namespace {

TEST(SignalName, IsTheOneThatPeopleUse) {
    EXPECT_EQ(signal_name(SIGKILL), "SIGKILL");
    EXPECT_EQ(signal_name(SIGABRT), "SIGABRT");
    EXPECT_EQ(signal_name(42), "signal 42");
    EXPECT_EQ(signal_name(0), "signal 0");
}

TEST(SignalByName, KnowsWhatKubernetesCallsThem) {
    EXPECT_EQ(signal_by_name("SIGUSR1"), SIGUSR1);
    EXPECT_EQ(signal_by_name("SIGRTMIN"), SIGRTMIN);
    EXPECT_EQ(signal_by_name("SIGRTMIN+15"), SIGRTMIN + 15);
    EXPECT_EQ(signal_by_name("SIGRTMAX-14"), SIGRTMAX - 14);
    EXPECT_EQ(signal_by_name("SIGRTMAX"), SIGRTMAX);
    for (const char* name :
         {"", "SIG", "USR1", "sigusr1", "SIGUSR1 ", "SIGRTMIN-1", "SIGRTMIN+", "SIGRTMIN+0",
          "SIGRTMAX+1", "SIGRTMIN+31", "SIGRTMIN+99999999999", "9"})
        EXPECT_EQ(signal_by_name(name), std::nullopt) << name;
}

}  // namespace
}  // namespace muster::signal_name_test
