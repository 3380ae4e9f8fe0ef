#include "runtime/internal/limits/cgroup_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace muster::runtime::cgroup_files_test {
namespace {

// The lock of a directory works the same in every file system.
TEST(KernelCgroupFiles, ClaimOnlyWhatThisUserOwns) {
    std::string own = "/tmp/muster-claim-XXXXXX";
    ASSERT_NE(::mkdtemp(own.data()), nullptr);
    {
        auto claimed = kernel_cgroup_files().claim(own);
        ASSERT_TRUE(claimed) << claimed.error().message();
        EXPECT_EQ(kernel_cgroup_files().claim(own).error().code(), Code::kConflict);
    }
    std::string others = "/";
    if (::geteuid() == 0) {
        ASSERT_EQ(::chown(own.c_str(), 65534, 65534), 0);
        others = own;
    }
    EXPECT_EQ(kernel_cgroup_files().claim(others).error().code(), Code::kForbidden);
    std::filesystem::remove(own);
}

}  // namespace
}  // namespace muster::runtime::cgroup_files_test
