#include "cli/internal/share/share_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli::share_words_test {
namespace {

using Words = std::vector<std::string>;

TEST(SplitCommand, TheCommandFollowsTheDashesOrTheFlags) {
    const Words with_value{"-n", "--processes", "--grace"};
    struct Row {
        Words line, flags, command;
    };
    const Row kRows[] = {
        {{"-n", "2", "--", "python3", "a.py"}, {"-n", "2"}, {"python3", "a.py"}},
        {{"-n", "2", "python3", "a.py", "-n", "9"}, {"-n", "2"}, {"python3", "a.py", "-n", "9"}},
        {{"-n2", "--mps", "a", "--", "b"}, {"-n2", "--mps"}, {"a", "--", "b"}},
        {{"--processes=2", "--", "-x"}, {"--processes=2"}, {"-x"}},
        {{"--help"}, {"--help"}, {}},
        {{"-n"}, {"-n"}, {}},
        {{"-n", "2", "--"}, {"-n", "2"}, {}},
        {{"-n", "2", "-"}, {"-n", "2"}, {"-"}},
        {{}, {}, {}},
    };
    for (const Row& row : kRows)
        EXPECT_EQ(split_command(row.line, with_value),
                  (ShareWords{.flags = row.flags, .command = row.command}))
            << testing::PrintToString(row.line);
}

TEST(ReadNames, TwoNamesWithOrWithoutDashes) {
    std::string index;
    std::string count;
    EXPECT_EQ(read_names("rank,world-size", index, count), std::nullopt);
    EXPECT_EQ(flag_of(index), "--rank");
    EXPECT_EQ(variable_of(count), "WORLD_SIZE");
    EXPECT_EQ(read_names("-i,--num", index, count), std::nullopt);
    EXPECT_EQ(flag_of(index), "-i");
    EXPECT_EQ(variable_of(index), "I");
    EXPECT_EQ(variable_of(count), "NUM");
    for (const char* wrong : {"", "rank", "rank,", ",n", "a,b,c", "a b,c", "a,A", "1,2", "--,x"})
        EXPECT_NE(read_names(wrong, index, count), std::nullopt) << wrong;
}

}  // namespace
}  // namespace muster::cli::share_words_test
