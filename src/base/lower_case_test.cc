#include "base/lower_case.h"

#include <gtest/gtest.h>

namespace muster::lower_case_test {
namespace {

TEST(LowerCase, ChangesAsciiLettersAlone) {
    EXPECT_EQ(lower_case("AZaz09-_@[`{"), "azaz09-_@[`{");
    EXPECT_EQ(lower_case("\xc3\x84"), "\xc3\x84") << "a letter that is not of ASCII";
    EXPECT_EQ(lower_case('Q'), 'q');
}

TEST(LowerCase, ComparesWithoutIt) {
    EXPECT_TRUE(equal_without_case("", ""));
    EXPECT_TRUE(equal_without_case("Content-Length", "content-LENGTH"));
    EXPECT_FALSE(equal_without_case("chunked", "chunke"));
    EXPECT_FALSE(equal_without_case("a", "b"));
    EXPECT_FALSE(equal_without_case("@", "`")) << "they differ by the bit that letters do";
}

}  // namespace
}  // namespace muster::lower_case_test
