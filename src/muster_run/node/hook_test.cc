#include "muster_run/node/hook.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace muster::run::hook_test {
namespace {

class HookTest : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string name = (std::filesystem::temp_directory_path() / "muster-hook-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::filesystem::path folder_;
};

TEST_F(HookTest, GoesBeforeWhatIsThere) {
    const auto hook = Hook::write(folder_);
    ASSERT_TRUE(hook) << hook.error().message();
    const std::string own = (folder_ / "hook").string();
    for (const auto& [before, after] :
         {std::pair<std::string, std::string>("", own), {"/mine", own + ":/mine"}}) {
        launch::Variables variables{{"PYTHONPATH", before}};
        hook->add_to(variables);
        EXPECT_EQ(variables, (launch::Variables{{"PYTHONPATH", after}, {"MUSTER_ERRORS", "1"}}));
    }
    launch::Variables none;
    hook->add_to(none);
    EXPECT_EQ(none, (launch::Variables{{"MUSTER_ERRORS", "1"}, {"PYTHONPATH", own}}));
}

TEST_F(HookTest, PythonLoadsIt) {
    const auto hook = Hook::write(folder_);
    ASSERT_TRUE(hook) << hook.error().message();
    const std::string command =
        "PYTHONPATH=" + (folder_ / "hook").string() +
        " /usr/bin/python3 -c 'import sys; sys.exit(\"_muster_hook\" not in sys.modules)'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(concurrency-mt-unsafe)
    hook->remove();
    EXPECT_FALSE(std::filesystem::exists(folder_ / "hook"));
}

}  // namespace
}  // namespace muster::run::hook_test
