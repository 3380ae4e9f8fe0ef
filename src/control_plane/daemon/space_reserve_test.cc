#include "control_plane/daemon/space_reserve.h"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace muster::control_plane::space_reserve_test {
namespace {

namespace fs = std::filesystem;

class SpaceReserveTest : public ::testing::Test {
  protected:
    SpaceReserveTest() {
        std::string name = (fs::temp_directory_path() / "muster-reserve-test.XXXXXX").string();
        root_ = ::mkdtemp(name.data());
    }
    ~SpaceReserveTest() override { fs::remove_all(root_); }

    fs::path root_;
};

TEST_F(SpaceReserveTest, IsSetAsideAndStays) {
    constexpr std::uint64_t kSmall = 64 << 10;
    SpaceReserve reserve(root_, kSmall);
    EXPECT_EQ(fs::file_size(root_ / "reserve"), kSmall);
    EXPECT_TRUE(reserve.has_room());
    fs::remove(root_ / "reserve");
    EXPECT_TRUE(reserve.has_room());
    EXPECT_TRUE(fs::exists(root_ / "reserve"));
}

TEST_F(SpaceReserveTest, IsNotAskedOfADiskThatIsNotThere) {
    SpaceReserve reserve(root_ / "none", 64 << 10);
    EXPECT_TRUE(reserve.has_room());
    EXPECT_FALSE(fs::exists(root_ / "none"));
}

}  // namespace
}  // namespace muster::control_plane::space_reserve_test
