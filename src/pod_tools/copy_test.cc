#include "pod_tools/copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace muster::pod_tools::copy_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class CopyProgram : public testing::Test {
  protected:
    CopyProgram() {
        fs::create_directory(directory_ / "into");
        write(from_, std::string(3'000'000, 'x') + "end");
    }
    ~CopyProgram() override { fs::remove_all(directory_); }

    static fs::path made() {
        std::string path = (fs::temp_directory_path() / "copy.XXXXXX").string();
        return ::mkdtemp(path.data());
    }
    static void write(const fs::path& file, const std::string& text) {
        std::ofstream(file, std::ios::binary) << text;
    }
    static std::string read(const fs::path& file) {
        std::ifstream in(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    std::vector<std::string> left() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(directory_ / "into"))
            names.push_back(entry.path().filename());
        return names;
    }

    fs::path directory_ = made();
    fs::path from_ = directory_ / "program";
    fs::path to_ = directory_ / "into" / "muster";
};

TEST_F(CopyProgram, IsWholeAndForEverybody) {
    ASSERT_TRUE(copy_program(from_, to_));
    EXPECT_EQ(read(to_), read(from_));
    EXPECT_EQ(fs::status(to_).permissions(), fs::perms(0755));
    EXPECT_THAT(left(), ElementsAre("muster"));
}

// As after a restart of the init container: a process that runs the old one continues with it.
TEST_F(CopyProgram, ReplacesAndDoesNotOverwrite) {
    write(to_, "old");
    std::ifstream opened(to_);
    ASSERT_TRUE(copy_program(from_, to_));
    std::string word;
    opened >> word;
    EXPECT_EQ(word, "old");
    EXPECT_EQ(read(to_), read(from_));
}

TEST_F(CopyProgram, WhatFailsSaysWhereAndLeavesNothing) {
    const auto missing = copy_program(directory_ / "none", to_);
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error().message(), HasSubstr("none"));
    fs::create_directory(to_);
    const auto taken = copy_program(from_, to_);
    ASSERT_FALSE(taken);
    EXPECT_THAT(taken.error().message(), HasSubstr(to_.string()));
    EXPECT_THAT(left(), ElementsAre("muster"));
    EXPECT_FALSE(copy_program(from_, directory_ / "no" / "directory"));
}

TEST_F(CopyProgram, FilesAndLinksAreMadeInTheSameWay) {
    ASSERT_TRUE(write_file("text", to_, 0644));
    EXPECT_EQ(read(to_), "text");
    EXPECT_EQ(fs::status(to_).permissions(), fs::perms(0644));
    const fs::path link = directory_ / "into" / "link";
    fs::create_symlink("gone", link.string() + ".new");
    for (const char* const from : {"nowhere", "muster"}) {
        ASSERT_TRUE(make_link(from, link));
        EXPECT_EQ(fs::read_symlink(link), from);
    }
    EXPECT_EQ(read(link), "text");
    EXPECT_THAT(left(), testing::UnorderedElementsAre("muster", "link"));
    const std::string nowhere = directory_ / "no" / "directory";
    EXPECT_THAT(write_file("text", nowhere, 0644).error().message(), HasSubstr(nowhere));
    EXPECT_THAT(make_link("x", nowhere).error().message(), HasSubstr(nowhere));
    fs::create_directory(directory_ / "into" / "taken");
    EXPECT_FALSE(make_link("x", directory_ / "into" / "taken"));
    EXPECT_THAT(left(), testing::UnorderedElementsAre("muster", "link", "taken"));
}

}  // namespace
}  // namespace muster::pod_tools::copy_test
