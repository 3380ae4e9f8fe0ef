#include "control_plane/own_programs.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "control_plane/machine.h"

namespace muster::control_plane::own_programs_test {
namespace {

namespace fs = std::filesystem;

/// No build of a test has a muster-run beside it.
class OwnPrograms : public testing::Test {
  protected:
    OwnPrograms() {
        std::string name = (fs::temp_directory_path() / "muster-own-programs.XXXXXX").string();
        home_ = ::mkdtemp(name.data());
    }
    ~OwnPrograms() override { fs::remove_all(home_); }

    fs::path home_;
};

TEST_F(OwnPrograms, ALinkIsMadeInTheCallersHomeAndIsLastInPath) {
    const fs::path link = home_ / ".muster" / "bin" / "muster-run";
    Caller caller{"/", {"A=b", "HOME=" + home_.string(), "PATH=/opt/venv/bin:/usr/bin"}};
    const Caller made = with_own_programs(caller, MissingLink::kMake);
    EXPECT_EQ(made.variable("PATH"), "/opt/venv/bin:/usr/bin:" + link.parent_path().string());
    EXPECT_EQ(fs::read_symlink(link), own_program());
    // Once is enough.
    EXPECT_EQ(with_own_programs(made, MissingLink::kMake).environment, made.environment);
    // Another build left a link to itself.
    fs::remove(link);
    fs::create_symlink("/elsewhere", link);
    with_own_programs(caller, MissingLink::kMake);
    EXPECT_EQ(fs::read_symlink(link), own_program());
    EXPECT_EQ(std::distance(fs::directory_iterator(link.parent_path()), {}), 1);
}

TEST_F(OwnPrograms, WhereItIsLeftOnlyALinkThatIsThereIsUsed) {
    const Caller caller{"/", {"HOME=" + home_.string(), "PATH=/usr/bin"}};
    EXPECT_EQ(with_own_programs(caller, MissingLink::kLeave).environment, caller.environment);
    EXPECT_TRUE(fs::is_empty(home_));
    const Caller made = with_own_programs(caller, MissingLink::kMake);
    EXPECT_NE(made.environment, caller.environment);
    EXPECT_EQ(with_own_programs(caller, MissingLink::kLeave).environment, made.environment);
    EXPECT_EQ(fs::status(home_ / ".muster").permissions(), fs::perms::owner_all);
}

TEST_F(OwnPrograms, WithoutAPathThereIsOne) {
    const Caller made = with_own_programs({"/", {"HOME=" + home_.string()}}, MissingLink::kMake);
    EXPECT_THAT(made.variable("PATH"), testing::StartsWith("/usr/local/bin:/usr/bin:/bin:"));
}

TEST_F(OwnPrograms, WhereNothingCanBeMadePathStays) {
    const fs::path file = home_ / "file";
    fs::create_symlink("/nonexistent/x", file);
    const Caller caller{"/", {"HOME=" + file.string(), "PATH=/usr/bin"}};
    EXPECT_EQ(with_own_programs(caller, MissingLink::kMake).environment, caller.environment);
}

}  // namespace
}  // namespace muster::control_plane::own_programs_test
