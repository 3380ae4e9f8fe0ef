#include "pod_tools/agent_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace muster::pod_tools::agent_folder_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class AgentFolder : public testing::Test {
  protected:
    ~AgentFolder() override { fs::remove_all(directory_); }

    static fs::path made() {
        std::string path = (fs::temp_directory_path() / "agent.XXXXXX").string();
        return ::mkdtemp(path.data());
    }
    std::vector<std::string> names(const std::string& folder) const {
        std::vector<std::string> found;
        for (const auto& entry : fs::directory_iterator(directory_ / folder))
            found.push_back(entry.path().filename());
        return found;
    }

    fs::path directory_ = made();
};

TEST_F(AgentFolder, HasWhatCommandsReachTheAgentBy) {
    const std::string own = fs::read_symlink("/proc/self/exe");
    const mode_t mask = ::umask(077);
    for (int again = 0; again < 2; ++again) {
        const auto done = make_agent_folder(own, directory_);
        ASSERT_TRUE(done) << done.error().message();
    }
    ::umask(mask);
    EXPECT_THAT(names("."), UnorderedElementsAre("muster", "bin", "python"));
    EXPECT_THAT(names("bin"), UnorderedElementsAre("muster-start", "python", "python3", "torchrun",
                                                   "dlrover-run", "muster-run"));
    EXPECT_EQ(fs::file_size(directory_ / "muster"), fs::file_size(own));
    for (const char* const name : {"torchrun", "dlrover-run", "muster-run"})
        EXPECT_TRUE(fs::equivalent(directory_ / "bin" / name, directory_ / "muster")) << name;
    for (const char* const name : {"python", "python3"})
        EXPECT_TRUE(fs::equivalent(directory_ / "bin" / name, directory_ / "bin/muster-start"));
    for (const char* const name :
         {"bin", "bin/muster-start", "muster", "python", "python/muster/hook"})
        EXPECT_EQ(fs::status(directory_ / name).permissions(), fs::perms(0755)) << name;
    EXPECT_THAT(names("python"), UnorderedElementsAre("muster", "sitecustomize.py"));
    for (const char* const name : {"__init__.py", "_world.py", "hook/_muster_hook.py"})
        EXPECT_TRUE(fs::is_regular_file(directory_ / "python/muster" / name)) << name;
    EXPECT_FALSE(fs::exists(directory_ / "python/muster/pods"));
}

TEST_F(AgentFolder, WhatFailsIsNamed) {
    const auto missing = make_agent_folder("/no/such/program", directory_);
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message(), HasSubstr("/no/such/program"));
    std::ofstream(directory_ / "python") << "a file";
    const auto taken = make_agent_folder("/proc/self/exe", directory_);
    ASSERT_FALSE(taken);
    EXPECT_THAT(taken.error().message(), HasSubstr((directory_ / "python").string()));
}

}  // namespace
}  // namespace muster::pod_tools::agent_folder_test
