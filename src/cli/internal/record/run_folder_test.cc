#include "cli/internal/record/run_folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "cli/internal/record/run_output.h"

namespace muster::cli::run_folder_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class RunFolders : public testing::Test {
  protected:
    RunFolders() {
        std::array<char, 32> name{"/tmp/muster-runs-XXXXXX"};
        home_ = ::mkdtemp(name.data());
        runs_ = home_ / "deep" / "runs";
    }
    ~RunFolders() override { fs::remove_all(home_); }

    static std::string text_of(const fs::path& path) {
        std::ifstream file(path);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    fs::path home_;
    fs::path runs_;
};

TEST_F(RunFolders, AreNumberedAndAliveWhileTheyAreHeld) {
    EXPECT_THAT(*list_runs(runs_), IsEmpty());
    {
        const auto first = RunFolder::create(runs_, "job");
        ASSERT_TRUE(first) << first.error().message();
        const auto second = RunFolder::create(runs_, "job");
        const auto other = RunFolder::create(runs_, "job-1");
        EXPECT_EQ(first->name(), "job-1");
        EXPECT_EQ(second->name(), "job-2");
        EXPECT_EQ(other->name(), "job-1-1");
        EXPECT_TRUE(read_run(first->path())->alive);
        struct stat info{};
        ::stat(first->path().c_str(), &info);
        EXPECT_EQ(info.st_mode & 0777, 0700U);
        second->discard();
        EXPECT_THAT(*list_runs(runs_), SizeIs(2));
    }
    EXPECT_FALSE(read_run(runs_ / "job-1")->alive);
    EXPECT_EQ(RunFolder::create(runs_, "job")->name(), "job-2");
    EXPECT_EQ(read_run(runs_ / "job-9").error().code(), Code::kNotFound);
}

TEST_F(RunFolders, FilesAreReplacedWhole) {
    const auto folder = RunFolder::create(runs_, "job");
    ASSERT_TRUE(folder->write(kManifestFile, "one"));
    ASSERT_TRUE(folder->write(kManifestFile, "two"));
    EXPECT_EQ(text_of(folder->path() / kManifestFile), "two");
    struct stat info{};
    ::stat((folder->path() / kManifestFile).c_str(), &info);
    EXPECT_EQ(info.st_mode & 0777, 0600U);
    fs::create_directory(folder->path() / kRunFile);
    EXPECT_THAT(folder->write(kRunFile, "x").error().message(), HasSubstr("run.json"));
}

TEST_F(RunFolders, ARecordThatIsNotOneLeavesTheName) {
    for (const char* text : {"", "{", "[]", "{\"name\": \"other-7\"}"}) {
        const auto folder = RunFolder::create(runs_, "job");
        ASSERT_TRUE(folder->write(kRunFile, text));
        EXPECT_EQ(read_run(folder->path())->record.name, folder->name()) << text;
    }
}

TEST_F(RunFolders, OthersMayNotWriteThere) {
    fs::create_directories(runs_);
    fs::permissions(runs_, fs::perms::all);
    EXPECT_EQ(RunFolder::create(runs_, "job").error().code(), Code::kForbidden);
    fs::remove_all(runs_);
    std::ofstream(runs_) << "a file";
    EXPECT_EQ(RunFolder::create(runs_, "job").error().code(), Code::kInvalid);
}

TEST_F(RunFolders, WhatIsLeftOverGoes) {
    {
        const auto folder = RunFolder::create(runs_, "job");
    }
    fs::create_directory(runs_ / ".new-1");
    fs::create_directory(runs_ / "keep");
    remove_old_runs(runs_, {.runs = 0, .bytes = 0});
    EXPECT_TRUE(fs::exists(runs_ / "keep"));
    EXPECT_FALSE(fs::exists(runs_ / ".new-1"));
    EXPECT_THAT(*list_runs(runs_), IsEmpty());
}

TEST_F(RunFolders, OneThatWasKilledCountsWithWhatItHas) {
    for (int i = 0; i < 3; ++i) {
        const auto folder = RunFolder::create(runs_, "job");
        ASSERT_TRUE(folder->write(kOutputFile, std::string(100, 'x')));
    }
    remove_old_runs(runs_, {.runs = 9, .bytes = 250});
    EXPECT_THAT(*list_runs(runs_), SizeIs(2));
}

TEST_F(RunFolders, TheOldestFilesAreTrimmed) {
    fs::create_directories(home_ / "logs" / "a");
    const auto write = [&](const char* name, int age) {
        const fs::path path = home_ / "logs" / "a" / name;
        std::ofstream(path) << std::string(100, 'x');
        fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(age));
    };
    write("0.log", 3);
    write("1.log", 2);
    write("2.log", 1);
    write("pod.json", 9);
    EXPECT_EQ(bytes_of_folder(home_), 400U);
    EXPECT_EQ(trim_files(home_, 250), 1U);
    EXPECT_FALSE(fs::exists(home_ / "logs" / "a" / "0.log"));
    EXPECT_TRUE(fs::exists(home_ / "logs" / "a" / "pod.json"));
    EXPECT_EQ(trim_files(home_, 250), 0U);
    EXPECT_EQ(trim_files(home_ / "nothing", 0), 0U);
}

TEST_F(RunFolders, OutputHasTwoFiles) {
    RunOutput output(home_ / "output.log", 10);
    for (const char* line : {"aaaaaa\n", "bbbbbb\n", "cccccc\n", "dddddd\n", "eeeeee\n"})
        output.write(line);
    EXPECT_EQ(text_of(home_ / "output.log.1"), "cccccc\ndddddd\n");
    EXPECT_EQ(text_of(home_ / "output.log"), "eeeeee\n");
    EXPECT_FALSE(output.take_failure());
}

TEST_F(RunFolders, OutputStopsAtAFullDiskAndSaysSoOnce) {
    RunOutput full("/dev/full");
    full.write("a\n");
    const auto failed = full.take_failure();
    ASSERT_TRUE(failed);
    EXPECT_THAT(failed->message(), HasSubstr("No space left"));
    full.write("b\n");
    EXPECT_FALSE(full.take_failure());
    RunOutput nowhere(home_ / "missing" / "output.log");
    nowhere.write("a\n");
    EXPECT_TRUE(nowhere.take_failure());
}

}  // namespace
}  // namespace muster::cli::run_folder_test
