#include "process/mount_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::process::mount_table_test {
namespace {

using ::testing::ElementsAre;

TEST(MountTable, IsReadLineByLine) {
    EXPECT_THAT(parse_mount_table("24 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
                                  "25 24 0:22 /part /sys ro,nosuid - sysfs sysfs rw\n"
                                  "26 24 7:1 / /my\\040disk ro - squashfs /dev/loop1 ro\n"
                                  "nonsense\n\n"),
                ElementsAre(MountEntry{"/", "ext4", false, "/", "rw"},
                            MountEntry{"/sys", "sysfs", true, "/part", "rw"},
                            MountEntry{"/my disk", "squashfs", true, "/", "ro"}));
}

}  // namespace
}  // namespace muster::process::mount_table_test
