#include "pod_init/internal/pod_devices.h"

#include <gtest/gtest.h>

namespace muster::pod_init::pod_devices_test {
namespace {

TEST(PodSeesDevice, AllButDisksAndTheMachinesTerminals) {
    for (const char* name : {"null", "zero", "urandom", "tty", "fuse", "kvm", "nvidia0",
                             "nvidiactl", "kfd", "dri", "infiniband", "shm", "stdin", "vfio"})
        EXPECT_TRUE(pod_sees_device(name, false)) << name;
    for (const char* name : {"tty0", "tty63", "vcs", "vcsa1", "vcsu", "console", "pts", "ptmx",
                             "mqueue", "ttyS0", "mem", "rtc0", "log"})
        EXPECT_FALSE(pod_sees_device(name, false)) << name;
    EXPECT_FALSE(pod_sees_device("sda", true));
}

}  // namespace
}  // namespace muster::pod_init::pod_devices_test
