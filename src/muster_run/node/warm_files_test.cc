#include "muster_run/node/warm_files.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>

namespace muster::run::warm_files_test {
namespace {

namespace fs = std::filesystem;

class WarmFilesTest : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "muster-warm-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { fs::remove_all(folder_); }

    WarmFiles must_write(const launch::Variables& variables) {
        auto files = WarmFiles::write(folder_ / "job", variables, {"python", "-u", "train.py"});
        EXPECT_TRUE(files) << files.error().message();
        return *std::move(files);
    }

    fs::path folder_;
};

TEST_F(WarmFilesTest, TheProgramIsTheOneOfThePackage) {
    const WarmFiles files = must_write({});
    std::ifstream written(files.options({}).zygote, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(written), {});
    EXPECT_TRUE(text.starts_with("\"\"\"A warm spare:")) << text.substr(0, 80);
    EXPECT_TRUE(text.ends_with("sys.exit(main())\n"));
    files.remove();
    EXPECT_TRUE(fs::is_empty(folder_ / "job"));
}

TEST_F(WarmFilesTest, WhatWasLearntStaysWhereThatCanBe) {
    const std::string cache = (folder_ / "cache").string();
    const std::string home = (folder_ / "home").string();
    // Below a file nothing can be made, whoever we are.
    std::ofstream(folder_ / "file") << "x";
    const std::string nowhere = (folder_ / "file" / "home").string();
    const struct {
        launch::Variables variables;
        fs::path expected;
    } cases[] = {
        {{{"XDG_CACHE_HOME", cache}, {"HOME", home}}, folder_ / "cache/muster/warm"},
        {{{"XDG_CACHE_HOME", ""}, {"HOME", home}}, folder_ / "home/.cache/muster/warm"},
        {{{"HOME", nowhere}}, folder_ / "job/warm"},
        {{{"HOME", "relative"}}, folder_ / "job/warm"},
        {{}, folder_ / "job/warm"},
    };
    for (const auto& [variables, expected] : cases) {
        const fs::path import_list = must_write(variables).options({}).imports;
        EXPECT_EQ(import_list.parent_path(), expected);
        EXPECT_TRUE(fs::is_directory(expected)) << expected;
    }
}

TEST(LearntName, IsOneForEachProgram) {
    const std::string name = import_list_name("/job", {"python", "-u", "code/train.py"});
    EXPECT_TRUE(name.starts_with("train-") && name.ends_with(".json")) << name;
    EXPECT_EQ(import_list_name("/job", {"python", "-u", "code/train.py"}), name);
    EXPECT_NE(import_list_name("/other", {"python", "-u", "code/train.py"}), name);
    EXPECT_NE(import_list_name("/job", {"python3", "-u", "code/train.py"}), name);
    EXPECT_NE(import_list_name("/job", {"python", "-ucode/train.py"}), name);
    EXPECT_EQ(import_list_name("/job", {"p", "-m", "my pack.mod"}).substr(0, 7), "my_pack");
}

}  // namespace
}  // namespace muster::run::warm_files_test
