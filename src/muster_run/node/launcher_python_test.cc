#include "muster_run/node/launcher_python.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "muster_run/node/node_facts.h"

namespace muster::run::launcher_python_test {
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
        fs::create_directories((folder_ / name).parent_path());
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

// The folder in pods that stands first in PATH (pod_tools/start).
TEST_F(LauncherPython, IsNotTheProgramThatLooksForIt) {
    write("m/muster-start", "");
    fs::create_symlink("muster-start", folder_ / "m/python3.11");
    write("torchrun", "#!/usr/bin/env python3.11\n");
    const std::string both = path("m") + ":" + folder_.string();
    EXPECT_EQ(python_of(path("torchrun"), {{"PATH", both}}), path("python3.11"));
    EXPECT_EQ(python_of("python3.11", {{"PATH", both}}), path("python3.11"));
    EXPECT_EQ(python_here({{"PATH", path("m")}}), "");
}

TEST_F(LauncherPython, IsThatOfTheLauncherBehindOurs) {
    write("ours/muster", "");
    write("before/torchrun", "");
    write("behind/torchrun", "");
    write("late/torchrun", "");
    fs::create_directories(folder_ / "again");
    fs::create_symlink("muster", folder_ / "ours/torchrun");
    fs::create_symlink(path("ours/torchrun"), folder_ / "again/torchrun");
    const auto behind = [&](const std::vector<std::string>& folders) {
        std::string list;
        for (const std::string& one : folders) list += (list.empty() ? "" : ":") + path(one);
        return launcher_behind(path("ours/torchrun"), "torchrun", {{"PATH", list}});
    };
    EXPECT_EQ(behind({"before", "ours", "none", "behind", "late"}), path("behind/torchrun"));
    EXPECT_EQ(behind({"ours", "again", "behind", "ours"}), path("behind/torchrun"));
    EXPECT_EQ(behind({"behind", "late"}), path("behind/torchrun")) << "called by its path";
    EXPECT_EQ(behind({"ours", "none"}), "");
    EXPECT_EQ(launcher_behind(path("ours/torchrun"), "torchrun", {}), "");
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
}  // namespace muster::run::launcher_python_test
