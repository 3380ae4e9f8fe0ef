#include "kube/values/go_quote.h"

#include <gtest/gtest.h>

namespace muster::kube::go_quote_test {
namespace {

// Each as `strconv.Quote` of Go 1.24 has it.
TEST(GoQuoteTest, WritesWhatGoWrites) {
    EXPECT_EQ(go_quoted(""), R"("")");
    EXPECT_EQ(go_quoted("a b"), R"("a b")");
    EXPECT_EQ(go_quoted("\"\\"), R"("\"\\")");
    EXPECT_EQ(go_quoted("\a\b\f\n\r\t\v"), R"("\a\b\f\n\r\t\v")");
    EXPECT_EQ(go_quoted(std::string_view("\0\x1b\x7f", 3)), R"("\x00\x1b\x7f")");
    EXPECT_EQ(go_quoted("\u00e9\u20ac\U0001f600"), "\"\u00e9\u20ac\U0001f600\"");
    EXPECT_EQ(go_quoted("a\xff\xc2"), R"("a\xff\xc2")");
    EXPECT_EQ(go_quoted("\u0085\u00a0\u00ad"), R"("\u0085\u00a0\u00ad")");
    EXPECT_EQ(go_quoted("\u200b\u2028\ufeff"), R"("\u200b\u2028\ufeff")");
}

}  // namespace
}  // namespace muster::kube::go_quote_test
