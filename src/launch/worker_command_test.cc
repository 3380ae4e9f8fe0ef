#include "launch/worker_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launch::worker_command_test {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;
using Kind = WorkerCommand::Kind;

Result<WorkerCommand> command(const Words& words, const std::string& python = "/usr/bin/python3",
                              LaunchCommand called = LaunchCommand::kTorchrun) {
    TRY(auto parsed, parse_launch_flags(called, words, {}));
    return worker_command(std::get<LaunchFlags>(parsed), python);
}

TEST(WorkerCommand, IsTorchruns) {
    const std::string py = "/usr/bin/python3";
    EXPECT_EQ(command({"a.py", "-x"})->words, (Words{py, "-u", "a.py", "-x"}));
    EXPECT_EQ(command({"-m", "a.b", "-x"})->words, (Words{py, "-u", "-m", "a.b", "-x"}));
    EXPECT_EQ(command({"a.py", "-x"})->spare_words, 3);
    EXPECT_EQ(command({"-m", "a.b", "-x"})->spare_words, 4);
    EXPECT_EQ(command({"--no-python", "./a", "-x"})->spare_words, 0);
    EXPECT_EQ(command({"--no-python", "./a", "-x"})->words, (Words{"./a", "-x"}));
    for (const Words& words :
         {Words{"--run-path", "a.py", "x"}, Words{"--run-path", "--no-python", "a.py", "x"}}) {
        const auto made = command(words);
        ASSERT_TRUE(made);
        EXPECT_EQ(made->kind, Kind::kRunPath);
        ASSERT_EQ(made->words.size(), 6u);
        EXPECT_EQ(made->words[2], "-c");
        EXPECT_THAT(made->words[3], HasSubstr("runpy.run_path"));
        EXPECT_EQ(made->words[4], "a.py");
    }
    EXPECT_TRUE(command({"--no-python", "a"}, "")) << "that needs no Python";
}

TEST(WorkerCommand, IsRefused) {
    EXPECT_THAT(command({"-m", "--no-python", "a"}).error().message(),
                HasSubstr("--no-python and -m exclude each other"));
    EXPECT_THAT(command({"-m", "--run-path", "a"}).error().message(),
                HasSubstr("--run-path and -m exclude each other"));
    EXPECT_THAT(command({"a.py"}, "").error().message(), HasSubstr("set PYTHON_EXEC"));
}

// torch/distributed/launch.py of torch 2.
TEST(WorkerCommand, OfTorchsOldLauncherGetsTheLocalRankAsAnArgument) {
    const auto launched = [](const Words& words) {
        return command(words, "py", LaunchCommand::kTorchLaunch);
    };
    const auto with = launched({"--nproc-per-node=2", "a.py", "-x"});
    EXPECT_EQ(words_for(*with, 1), (Words{"py", "-u", "a.py", "--local-rank=1", "-x"}));
    EXPECT_EQ(with->spare_words, 3);
    EXPECT_EQ(words_for(*launched({"-m", "a.b"}), 0),
              (Words{"py", "-u", "-m", "a.b", "--local-rank=0"}));
    EXPECT_EQ(launched({"--use_env", "a.py", "-x"})->words, (Words{"py", "-u", "a.py", "-x"}));
    EXPECT_EQ(launched({"--use-env", "--no-python", "a"})->words, (Words{"a"}));
    EXPECT_THAT(launched({"--no-python", "a"}).error().message(),
                HasSubstr("--no-python needs --use-env"));
    EXPECT_THAT(launched({"--literal-args", "a.py"}).error().message(),
                HasSubstr("--literal-args needs --use-env"));
    EXPECT_EQ(command({"--no-python", "a"})->words, (Words{"a"}));
}

TEST(WorkerCommand, HasTheLocalRankInIt) {
    struct Row {
        std::string word;
        std::string becomes;
    };
    const Row kRows[] = {
        {"--out=${local_rank}.txt", "--out=3.txt"},
        {"$local_rank/$local_rank", "3/3"},
        {"$local_ranks ${rank} $ ${local_rank", "$local_ranks ${rank} $ ${local_rank"},
        {"$$local_rank $$", "$local_rank $"},
        {"plain", "plain"},
        {"", ""},
    };
    for (const Row& row : kRows) {
        const WorkerCommand made{Kind::kScript, "a.py", {"$local_rank", row.word}};
        EXPECT_EQ(words_for(made, 3), (Words{"$local_rank", row.becomes})) << row.word;
    }
}

TEST(WorkerCommand, LiteralWordsStayAsTheyAre) {
    const auto made = command({"--literal-args", "$$.py", "$$ $local_rank ${local_rank}", "$"});
    ASSERT_TRUE(made);
    EXPECT_EQ(words_for(*made, 3), made->words);
    EXPECT_THAT(made->words, testing::ElementsAre("/usr/bin/python3", "-u", "$$.py",
                                                  "$$ $local_rank ${local_rank}", "$"));
    EXPECT_EQ(file_to_check(*made)->path, "$$.py");
    EXPECT_THAT(command({"a.py", "--literal-args"})->words,
                testing::ElementsAre("/usr/bin/python3", "-u", "a.py", "--literal-args"));
}

TEST(WorkerCommand, IsCheckedBeforeItRuns) {
    const FileFacts file{.exists = true, .readable = true};
    const FileFacts program{.exists = true, .readable = true, .executable = true};
    const FileFacts directory{
        .exists = true, .is_directory = true, .readable = true, .executable = true};
    FileFacts package = directory;
    package.has_main = true;
    struct Row {
        Words words;
        FileFacts facts;
        std::string says;  ///< empty: it may start
    };
    const Row kRows[] = {
        {{"a.py"}, file, ""},
        {{"a.py"}, {}, "there is no a.py"},
        {{"a"}, directory, "a directory without a __main__.py"},
        {{"a"}, package, ""},
        {{"a.py"}, {.exists = true}, "a.py may not be read"},
        {{"--no-python", "./a"}, program, ""},
        {{"--no-python", "./a"}, file, "chmod +x ./a"},
        {{"--no-python", "./a"}, package, "is a directory, not a program"},
        {{"--no-python", "a"}, {}, "PATH has no program a; for a file in this directory write ./a"},
        {{"--no-python", "/a"}, {}, "there is no /a"},
        {{"--run-path", "/a.py"}, {}, "there is no /a.py"},
        {{"-m", "a.b"}, {}, ""},
    };
    for (const Row& row : kRows) {
        const auto checked = check_command(*command(row.words), row.facts);
        EXPECT_THAT(checked ? "" : checked.error().message(), HasSubstr(row.says));
        EXPECT_EQ(checked.has_value(), row.says.empty()) << testing::PrintToString(row.words);
    }
    EXPECT_FALSE(file_to_check(*command({"-m", "a"})));
    EXPECT_TRUE(file_to_check(*command({"--no-python", "a"}))->in_path);
    EXPECT_EQ(file_to_check(*command({"${local_rank}.py"}))->path, "0.py");
}

}  // namespace
}  // namespace muster::launch::worker_command_test
