#include "cli/internal/envtest/token_file.h"

#include <gmock/gmock.h>

namespace muster::cli::token_file_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(TokenFile, HasUsersWithTheirGroups) {
    const auto tokens = read_token_file(
        "abc,ann,7,\"dev,system:masters\"\r\n\n\"d\"\"e\",bob,,\nabc,eve,8\n,nobody,9\nx,y,z,one,"
        "more");
    ASSERT_TRUE(tokens.has_value()) << tokens.error().message();
    ASSERT_EQ(tokens->size(), 3);
    EXPECT_EQ((*tokens)[0].token, "d\"e");
    EXPECT_EQ((*tokens)[0].user.name, "bob");
    EXPECT_THAT((*tokens)[0].user.groups, IsEmpty());
    EXPECT_EQ((*tokens)[1].user.name, "eve");
    EXPECT_EQ((*tokens)[2].user.uid, "z");
    EXPECT_THAT((*tokens)[2].user.groups, ElementsAre("one"));
    EXPECT_THAT(read_token_file("abc,ann,7,\"dev,system:masters\"")->front().user.groups,
                ElementsAre("dev", "system:masters"));
}

TEST(TokenFile, WhatIsWrongIsSaidWithItsLine) {
    for (const auto& [text, wrong] :
         {std::pair{"a,b,c\na,b", "line 2: token file must have at least 3 columns"},
          std::pair{"a,\"b,c", "line 1: a quote is out of place"},
          std::pair{"a,b\"c,d", "line 1: a quote is out of place"},
          std::pair{"a,\"b\"c,d", "line 1: a quote is out of place"}}) {
        const auto tokens = read_token_file(text);
        ASSERT_FALSE(tokens.has_value()) << text;
        EXPECT_THAT(tokens.error().message(), HasSubstr(wrong));
    }
}

}  // namespace
}  // namespace muster::cli::token_file_test
