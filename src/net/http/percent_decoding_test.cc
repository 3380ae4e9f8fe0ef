#include "net/http/percent_decoding.h"

#include <gtest/gtest.h>

namespace muster::net::percent_decoding_test {
namespace {

TEST(PercentDecoding, ReadsEscapesInBothCases) {
    EXPECT_EQ(percent_decoded("/a%2Fb%2fc+d"), "/a/b/c+d");
    EXPECT_EQ(percent_decoded("a+b%2B", true), "a b+");
    EXPECT_EQ(percent_decoded(""), "");
}

TEST(PercentDecoding, RefusesBrokenEscapes) {
    for (const char* text : {"%", "%2", "a%2", "%2g", "%g2", "%%20", "%\x80\x80"})
        EXPECT_EQ(percent_decoded(text), std::nullopt) << text;
}

}  // namespace
}  // namespace muster::net::percent_decoding_test
