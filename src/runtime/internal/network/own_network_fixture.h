#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <string_view>

#include "base/unique_fd.h"

namespace muster::runtime {

/// While it exists, this process has a network of its own, with nothing but loopback. Pods without
/// namespaces have addresses and ports of our network, and one process at a time may run them
/// there: so tests of them can run beside each other, and beside any other muster. Where the user
/// may make no network, tests of one program wait for each other here; then one process may have
/// only one of these.
class OwnNetwork {
  public:
    OwnNetwork() : before_(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)), made_(enter()) {
        if (made_) return;
        turn_.reset(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
        EXPECT_EQ(::flock(turn_.get(), LOCK_EX), 0);
    }
    ~OwnNetwork() {
        if (made_) EXPECT_EQ(::setns(before_.get(), CLONE_NEWNET), 0);
    }
    OwnNetwork(const OwnNetwork&) = delete;
    OwnNetwork& operator=(const OwnNetwork&) = delete;

    /// Whether the user may make one.
    bool made() const { return made_; }

  private:
    bool enter() const {
        // In a container there may be the right to make one, but none to return.
        if (::setns(before_.get(), CLONE_NEWNET) != 0 || ::unshare(CLONE_NEWNET) != 0) return false;
        if (take_loopback_up()) return true;
        ::setns(before_.get(), CLONE_NEWNET);
        return false;
    }
    static bool take_loopback_up() {
        ifreq loopback{};
        std::string_view("lo").copy(loopback.ifr_name, IFNAMSIZ);
        loopback.ifr_flags = IFF_UP;
        const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
        return ::ioctl(socket.get(), SIOCSIFFLAGS, &loopback) == 0;
    }

    UniqueFd before_;  ///< the network to return to
    UniqueFd turn_;    ///< the lock of those who wait for each other
    bool made_;
};

}  // namespace muster::runtime
