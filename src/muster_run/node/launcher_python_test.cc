#include "muster_run/node/launcher_python.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace muster::run {
namespace {

namespace fs = std::filesystem;

class LauncherPython : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "muster-python-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
        fs::create_directories(folder_ / "an env");
        write("python", "");
        write("python3.11", "");
        write("an env/python", "");
    }
    void TearDown() override { fs::remove_all(folder_); }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
        fs::permissions(folder_ / name, fs::perms::owner_all);
    }
    std::string path(const std::string& name) const { return (folder_ / name).string(); }
    std::string found(const std::string& launcher) const {
        return python_of(launcher, {{"PATH", folder_.string()}});
    }
    /// By a torchrun with this beginning.
    std::string of(const std::string& text) const {
        write("torchrun", text);
        EXPECT_EQ(found("torchrun"), found(path("torchrun"))) << text;
        return found("torchrun");
    }

    fs::path folder_;
};

TEST_F(LauncherPython, IsWhatItsFirstLineNames) {
    EXPECT_EQ(of("#!" + path("python3.11") + "\nimport sys\n"), path("python3.11"));
    EXPECT_EQ(of("#! " + path("python") + " -I\r\nimport sys\n"), path("python"));
    EXPECT_EQ(of("#!/usr/bin/env python3.11\n"), path("python3.11"));
    EXPECT_EQ(of("#!/usr/bin/env -S python -u\n"), path("python"));
    EXPECT_EQ(of("#!/bin/sh\n'''exec' " + path("python") + " \"$0\" \"$@\"\n' '''\n"),
              path("python"));
    EXPECT_EQ(of("#!/bin/sh\n'''exec' \"" + path("an env/python") + "\" \"$0\" \"$@\"\n"),
              path("an env/python"));
}

TEST_F(LauncherPython, IsThePythonThatIsCalledItself) {
    EXPECT_EQ(found("python3.11"), path("python3.11"));
    EXPECT_EQ(found(path("an env/python")), path("an env/python"));
}

TEST_F(LauncherPython, IsUnknownWhereItIsNoScriptOfPythons) {
    EXPECT_EQ(found(""), "");
    EXPECT_EQ(found("torchrun"), "") << "it is not there";
    EXPECT_EQ(of(""), "");
    EXPECT_EQ(of("\x7f"
                 "ELF\n"),
              "");
    EXPECT_EQ(of("#!"), "");
    EXPECT_EQ(of("#!/bin/sh\nexec python\n"), "");
    EXPECT_EQ(of("#!/usr/bin/env bash\n"), "");
    EXPECT_EQ(of("#!" + path("gone/python") + "\n"), "") << "its environment was moved";
    EXPECT_EQ(found("python9"), "");
}

}  // namespace
}  // namespace muster::run
