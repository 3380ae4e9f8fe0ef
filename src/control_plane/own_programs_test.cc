#include "control_plane/own_programs.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>

#include "control_plane/machine.h"

namespace muster::control_plane {
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
    const Caller made = with_own_programs(caller);
    EXPECT_EQ(made.variable("PATH"), "/opt/venv/bin:/usr/bin:" + link.parent_path().string());
    EXPECT_EQ(fs::read_symlink(link), own_program());
    // Once is enough.
    EXPECT_EQ(with_own_programs(made).environment, made.environment);
    // Another build left a link to itself.
    fs::remove(link);
    fs::create_symlink("/elsewhere", link);
    with_own_programs(caller);
    EXPECT_EQ(fs::read_symlink(link), own_program());
    EXPECT_EQ(std::distance(fs::directory_iterator(link.parent_path()), {}), 1);
}

TEST_F(OwnPrograms, WithoutAPathThereIsOne) {
    const Caller made = with_own_programs({"/", {"HOME=" + home_.string()}});
    EXPECT_THAT(made.variable("PATH"), testing::StartsWith("/usr/local/bin:/usr/bin:/bin:"));
}

TEST_F(OwnPrograms, WhereNothingCanBeMadePathStays) {
    const fs::path file = home_ / "file";
    fs::create_symlink("/nonexistent/x", file);
    const Caller caller{"/", {"HOME=" + file.string(), "PATH=/usr/bin"}};
    EXPECT_EQ(with_own_programs(caller).environment, caller.environment);
}

}  // namespace
}  // namespace muster::control_plane
