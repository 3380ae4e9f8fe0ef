#include "process/cgroup_hierarchies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::process::cgroup_hierarchies_test {
namespace {

using enum Controller;
using enum CgroupVersion;

TEST(CgroupHierarchies, AreFoundWhereTheyAreMounted) {
    struct Case {
        const char* what;
        const char* mountinfo;
        const char* own_groups;
        std::vector<CgroupHierarchy> expected;
    };
    const Case cases[] = {
        {"a desktop of today",
         "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
         "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope\n",
         {{kV2,
           {},
           "/sys/fs/cgroup",
           "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope"}}},
        {"both versions",
         "24 1 0:22 / / rw - ext4 /dev/vda rw\n"
         "30 24 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
         "31 24 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
         "32 24 0:28 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer\n"
         "33 24 0:29 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n"
         "34 24 0:30 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
         "5:freezer:/f\n4:memory:/a/b\n3:cpu,cpuacct:/\n2:name=systemd:/s\n0::/u\n",
         {{kV1, {kMemory}, "/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory/a/b"},
          {kV1, {kCpu}, "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu,cpuacct"},
          {kV2, {}, "/sys/fs/cgroup/unified", "/sys/fs/cgroup/unified/u"}}},
        {"a container that sees only its own part",
         "35 24 0:30 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
         "0::/docker/abc/inner\n",
         {{kV2, {}, "/sys/fs/cgroup", "/sys/fs/cgroup/inner"}}},
        {"a container that is told a path which it does not see",
         "35 24 0:30 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
         "0::/../../elsewhere\n",
         {{kV2, {}, "/sys/fs/cgroup", "/sys/fs/cgroup"}}},
        {"one tree mounted twice, at a path with a blank",
         "35 24 0:30 / /sys/fs/c\\040group rw - cgroup2 cgroup2 rw\n"
         "36 24 0:30 / /mnt rw - cgroup2 cgroup2 rw\n",
         "0::/\n",
         {{kV2, {}, "/sys/fs/c group", "/sys/fs/c group"}}},
        {"none", "24 1 0:22 / / rw - ext4 /dev/vda rw\n", "", {}},
        {"nothing that makes sense", "cgroup\n\n- cgroup2\n", "x", {}},
    };
    for (const Case& c : cases)
        EXPECT_EQ(find_cgroup_hierarchies(c.mountinfo, c.own_groups), c.expected) << c.what;
}

TEST(CgroupHierarchies, OutOfMemoryKillsAreCounted) {
    EXPECT_EQ(oom_kills("low 0\nhigh 0\nmax 31\noom 2\noom_kill 1\noom_group_kill 1\n"), 1);
    EXPECT_EQ(oom_kills("oom_kill_disable 0\nunder_oom 0\noom_kill 12\n"), 12);
    EXPECT_EQ(oom_kills("oom_kill_disable 0\nunder_oom 0\noom_kill 0\n"), 0);
    EXPECT_EQ(oom_kills(""), 0);
}

}  // namespace
}  // namespace muster::process::cgroup_hierarchies_test
