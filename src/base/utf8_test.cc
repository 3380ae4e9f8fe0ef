#include "base/utf8.h"

#include <gtest/gtest.h>

namespace muster::utf8_test {
namespace {

TEST(Utf8, WellFormedTextIsKnown) {
    for (const char* good : {"", "a", "a longer text of ASCII", "\xc3\xa4", "\xe2\x82\xac",
                             "\xf0\x9f\x98\x80", "eight by\xc3\xa4te", "\xef\xbf\xbd"})
        EXPECT_TRUE(is_utf8(good)) << good;
    for (const char* bad :
         {"\xff", "\xc0\x80", "\xc3", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80",
          "a longer text\xff", "\xe0\x80\x80", "\xf0\x80\x80\x80"})
        EXPECT_FALSE(is_utf8(bad)) << as_utf8(bad);
}

TEST(Utf8, WhatIsNoCharacterIsReplacedByteByByte) {
    EXPECT_EQ(as_utf8("a\xff\xc3\xa4\xe2\x82z"), "a\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd\xef\xbf\xbdz");
    EXPECT_EQ(as_utf8("as it was \xc3\xa4"), "as it was \xc3\xa4");
    EXPECT_EQ(as_utf8(""), "");
}

TEST(Utf8, ACutLeavesNoHalfCharacter) {
    EXPECT_EQ(cut_utf8("\xe2\x82\xac\xe2\x82\xac", 5), "\xe2\x82\xac");
    EXPECT_EQ(cut_utf8("\xe2\x82\xac", 3), "\xe2\x82\xac");
    EXPECT_EQ(cut_utf8("\xe2\x82\xac", 2), "");
    EXPECT_EQ(cut_utf8("abc", 2), "ab");
}

}  // namespace
}  // namespace muster::utf8_test
