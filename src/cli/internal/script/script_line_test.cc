#include "cli/internal/script/script_line.h"

#include <gmock/gmock.h>

#include <set>

namespace muster::cli::script_line_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ScriptLine read(const std::vector<std::string>& words) {
    static const std::set<std::string> with_values = {
        "-n", "--env", "--workers", "--nproc-per-node", "--name", "-f", "--namespace"};
    return read_script_line(
        words, {.takes_value = [](const std::string& flag) { return with_values.contains(flag); },
                .is_program =
                    [](const std::string& word) { return word == "mpirun" || word == "./run"; }});
}

TEST(ScriptLine, AScriptBeginsItsCommand) {
    const ScriptLine line =
        read({"--env", "A=1", "-q", "train.py", "--lr", "0.1", "-n", "3", "--", "x"});
    EXPECT_THAT(line.flags, ElementsAre("--env", "A=1", "-q"));
    EXPECT_THAT(line.command, ElementsAre("train.py", "--lr", "0.1", "-n", "3", "--", "x"));
    EXPECT_THAT(read({"mpirun", "-np", "2", "a.out"}).command,
                ElementsAre("mpirun", "-np", "2", "a.out"));
    EXPECT_THAT(read({"./run"}).command, ElementsAre("./run"));
    EXPECT_THAT(read({"train.sh", "x"}).command, ElementsAre("train.sh", "x"));
    EXPECT_THAT(read({"-m", "pkg.train", "-x"}).command, ElementsAre("-m", "pkg.train", "-x"));
    EXPECT_THAT(read({"--name", "a", "--", "anything", "-b"}).command,
                ElementsAre("anything", "-b"));
    // The value of a flag is none of its own.
    EXPECT_THAT(read({"--name", "train.py", "real.py"}).command, ElementsAre("real.py"));
}

TEST(ScriptLine, AManifestStaysOne) {
    const ScriptLine line = read({"job.yaml", "--env", "A=1", "more.yaml", "--", "--lr", "0.1"});
    EXPECT_THAT(line.flags, ElementsAre("job.yaml", "--env", "A=1", "more.yaml"));
    EXPECT_THAT(line.command, IsEmpty());
    EXPECT_THAT(line.program_arguments, ElementsAre("--lr", "0.1"));
    EXPECT_THAT(read({"-"}).flags, ElementsAre("-"));
    EXPECT_THAT(read({"-f", "job.yaml", "train.py"}).flags,
                ElementsAre("-f", "job.yaml", "train.py"));
    EXPECT_THAT(read({"/dev/fd/63"}).flags, ElementsAre("/dev/fd/63"));
    EXPECT_THAT(read({"no-such-file"}).flags, ElementsAre("no-such-file"));
}

TEST(ScriptLine, WordsOfOtherLaunchers) {
    struct Case {
        std::vector<std::string> words;
        std::vector<std::string> flags;
    };
    const std::vector<Case> cases = {
        {{"-n", "4"}, {"--nproc-per-node", "4"}},
        {{"-n", "auto"}, {"--nproc-per-node", "auto"}},
        {{"-n4"}, {"--nproc-per-node=4"}},
        {{"-n", "team-a"}, {"-n", "team-a"}},
        {{"-np", "2"}, {"--nproc-per-node", "2"}},
        {{"--nproc_per_node=2"}, {"--nproc-per-node=2"}},
        {{"--nproc_per_node", "2"}, {"--nproc-per-node", "2"}},
        {{"--nnodes", "1:4"}, {"--workers", "1:4"}},
        {{"--nnodes=2"}, {"--workers=2"}},
        {{"--elastic", "2:8"}, {"--workers", "2:8"}},
        {{"--elastic=2:8"}, {"--workers=2:8"}},
        {{"--elastic"}, {"--elastic"}},
    };
    for (const Case& one : cases) {
        std::vector<std::string> words = one.words;
        words.emplace_back("train.py");
        const ScriptLine line = read(words);
        EXPECT_EQ(line.flags, one.flags) << testing::PrintToString(words);
        EXPECT_THAT(line.command, ElementsAre("train.py")) << testing::PrintToString(words);
    }
    EXPECT_THAT(read({"--elastic", "train.py"}).flags, ElementsAre("--elastic"));
}

}  // namespace
}  // namespace muster::cli::script_line_test
