#include "process/program_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace muster::process::program_file_test {
namespace {

using ::testing::ElementsAre;

TEST(ProgramFile, ANameIsLookedUpAsAShellDoes) {
    EXPECT_THAT(program_candidates("./a", "/bin:/usr/bin"), ElementsAre("./a"));
    EXPECT_THAT(program_candidates("a", "/bin::/usr/bin"),
                ElementsAre("/bin/a", "a", "/usr/bin/a"));
    EXPECT_EQ(path_of({"A=b", "PATH=/x"}), "/x");
    EXPECT_EQ(path_of({}), "/usr/local/bin:/usr/bin:/bin");
}

class ProgramFileTest : public ::testing::Test {
  protected:
    std::string file(const std::string& name, const std::string& content, mode_t mode) {
        const std::string path = directory_ / name;
        std::ofstream(path) << content;
        ::chmod(path.c_str(), mode);
        return path;
    }
    ~ProgramFileTest() override { std::filesystem::remove_all(directory_); }

    std::filesystem::path directory_ = [] {
        std::string name = ::testing::TempDir() + "muster-program-XXXXXX";
        return std::filesystem::path(::mkdtemp(name.data()));
    }();
};

TEST_F(ProgramFileTest, WhatIsWrongIsNamed) {
    const std::string missing = directory_ / "missing";
    const std::string plain = file("plain", "#!/bin/sh\n", 0644);
    const std::string lost = file("lost", "#!/no/such/shell -x\n", 0755);
    const std::string good = file("good", "#!/bin/sh\n", 0755);
    EXPECT_EQ(diagnose_program({missing}, missing, ENOENT),
              (ProgramFailure{ProgramFault::kMissing, ENOENT, missing}));
    EXPECT_EQ(diagnose_program({plain}, plain, EACCES),
              (ProgramFailure{ProgramFault::kNotExecutable, EACCES, plain}));
    EXPECT_EQ(diagnose_program({directory_.string()}, "d", EACCES),
              (ProgramFailure{ProgramFault::kNotExecutable, EISDIR, directory_.string()}));
    EXPECT_EQ(diagnose_program({lost}, lost, ENOENT),
              (ProgramFailure{ProgramFault::kInterpreterMissing, ENOENT, "/no/such/shell"}));
    EXPECT_EQ(diagnose_program({lost}, lost, 0).fault, ProgramFault::kInterpreterMissing);
    EXPECT_EQ(diagnose_program({good}, good, 0).fault, ProgramFault::kOther);
    EXPECT_EQ(diagnose_program({good}, good, ENOEXEC),
              (ProgramFailure{ProgramFault::kFormat, ENOEXEC, good}));
}

}  // namespace
}  // namespace muster::process::program_file_test
