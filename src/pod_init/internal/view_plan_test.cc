#include "pod_init/internal/view_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::pod_init::view_plan_test {
namespace {

using ::testing::ElementsAre;
using How = ViewPoint::How;

TEST(MountTable, AViewIsPrivateButForWhatIsKeptAndTheKernelsOwn) {
    const std::vector<process::MountEntry> mounts = {{"/", "ext4", false},
                                                     {"/proc", "proc", false},
                                                     {"/proc/sys/x", "tmpfs", false},
                                                     {"/dev", "tmpfs", false},
                                                     {"/dev/shm", "tmpfs", false},
                                                     {"/home", "xfs", false},
                                                     {"/snap/a", "squashfs", true},
                                                     {"/home/me/data", "nfs4", false},
                                                     {"/mnt", "ext4", true},
                                                     {"/mnt", "ext4", false}};
    EXPECT_THAT(
        plan_private_view(mounts, {"/home/me/data", "/tmp/state"}),
        ElementsAre(ViewPoint{"/", How::kOverlay}, ViewPoint{"/dev", How::kShare},
                    ViewPoint{"/home", How::kOverlay}, ViewPoint{"/mnt", How::kOverlay},
                    ViewPoint{"/proc", How::kShare}, ViewPoint{"/snap/a", How::kFreeze},
                    ViewPoint{"/tmp/state", How::kShare}, ViewPoint{"/home/me/data", How::kShare}));
    EXPECT_THAT(plan_private_view({}, {}), ElementsAre(ViewPoint{"/", How::kOverlay}));
}

TEST(MountTable, Below) {
    EXPECT_TRUE(lies_below("/a/b", "/a"));
    EXPECT_TRUE(lies_below("/a", "/"));
    EXPECT_FALSE(lies_below("/a", "/a"));
    EXPECT_FALSE(lies_below("/ab", "/a"));
    EXPECT_FALSE(lies_below("/", "/"));
}

}  // namespace
}  // namespace muster::pod_init::view_plan_test
