#include "base/shell_word.h"

#include <gtest/gtest.h>

namespace muster::shell_word_test {
namespace {

TEST(ShellWord, IsQuotedWhereAShellWouldReadItOtherwise) {
    EXPECT_EQ(shell_word("/home/ann/.muster/kubeconfig"), "/home/ann/.muster/kubeconfig");
    EXPECT_EQ(shell_word("/my files/k"), "'/my files/k'");
    EXPECT_EQ(shell_word("/a$b/~x;y"), "'/a$b/~x;y'");
    EXPECT_EQ(shell_word("/ann's"), "'/ann'\\''s'");
    EXPECT_EQ(shell_word(""), "''");
}

TEST(IsShell, TakesItsNameOrAPathOfIt) {
    for (const char* word : {"sh", "bash", "/bin/dash", "/usr/local/bin/zsh", "bin/ksh", "ash"})
        EXPECT_TRUE(is_shell(word)) << word;
    for (const char* word : {"", "/", "bash/", "shell", "python3", "fish", "/bin/sh -c", "-sh"})
        EXPECT_FALSE(is_shell(word)) << word;
}

}  // namespace
}  // namespace muster::shell_word_test
