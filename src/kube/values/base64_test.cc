#include "kube/values/base64.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace muster::kube::base64_test {
namespace {

using namespace std::string_literals;

// The vectors of RFC 4648 §10, and bytes whose digits differ between the alphabets.
const std::vector<std::pair<std::string, std::string>> kVectors = {{"", ""},
                                                                   {"f", "Zg=="},
                                                                   {"fo", "Zm8="},
                                                                   {"foo", "Zm9v"},
                                                                   {"foob", "Zm9vYg=="},
                                                                   {"fooba", "Zm9vYmE="},
                                                                   {"foobar", "Zm9vYmFy"},
                                                                   {"\xfb\xff\0"s, "+/8A"}};

TEST(Base64Test, EncodesAndDecodesTheVectorsOfTheRfc) {
    for (const auto& [bytes, text] : kVectors) {
        EXPECT_EQ(base64_encode(bytes), text);
        EXPECT_EQ(base64_decode(text), bytes);
        EXPECT_EQ(base64url_decode(base64url_encode(bytes)), bytes);
    }
    EXPECT_EQ(base64url_encode("\xfb\xff\0"s), "-_8A");
    EXPECT_EQ(base64url_encode("f"), "Zg");
}

TEST(Base64Test, IgnoresLineBreaks) { EXPECT_EQ(base64_decode("Zm9v\r\nYmFy\n"), "foobar"); }

TEST(Base64Test, RefusesWhatIsNotItsForm) {
    for (const char* text : {"Zg", "Zg=", "Z===", "Zg==Zg==", "Zm9v!", "=", "-_8A", "Zm 9v"})
        EXPECT_EQ(base64_decode(text), std::nullopt) << text;
    for (const char* text : {"Zg==", "Z", "+/8A", "Zm9v\n"})
        EXPECT_EQ(base64url_decode(text), std::nullopt) << text;
}

}  // namespace
}  // namespace muster::kube::base64_test
