#include "net/internal/http/socks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::net::socks_test {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;

TEST(Socks, WhatAClientSays) {
    EXPECT_EQ(socks_hello(false), "\5\1\0"s);
    EXPECT_EQ(socks_hello(true), "\5\2\0\2"s);
    EXPECT_EQ(socks_login({"ann", "p"}).value(), "\1\3ann\1p");
    EXPECT_EQ(socks_connect({"a.b", 6443}).value(), "\5\1\0\3\3a.b\x19\x2b"s);
    EXPECT_EQ(socks_connect({"10.0.0.1", 443}).value(), "\5\1\0\1\x0a\0\0\1\1\xbb"s);
    EXPECT_EQ(socks_connect({"::1", 443}).value(),
              "\5\1\0\4"s + std::string(15, '\0') + "\1\1\xbb"s);
    const std::string long_text(256, 'x');
    EXPECT_FALSE(socks_connect({long_text, 1}));
    EXPECT_FALSE(socks_login({long_text, "p"}));
    EXPECT_FALSE(socks_login({"ann", ""}));
}

TEST(Socks, WhatAProxyChooses) {
    EXPECT_EQ(read_socks_choice("\5\0"s, false).value(), SocksMethod::kNone);
    EXPECT_EQ(read_socks_choice("\5\0"s, true).value(), SocksMethod::kNone);
    EXPECT_EQ(read_socks_choice("\5\2"s, true).value(), SocksMethod::kPassword);
    const std::tuple<std::string, bool, Code> kRows[] = {{"\5\2"s, false, Code::kUnauthorized},
                                                         {"\5\xff"s, true, Code::kUnauthorized},
                                                         {"\4\0"s, false, Code::kUnavailable},
                                                         {"HT"s, false, Code::kUnavailable},
                                                         {"\5"s, false, Code::kUnavailable}};
    for (const auto& [bytes, has_login, code] : kRows) {
        const auto choice = read_socks_choice(bytes, has_login);
        ASSERT_FALSE(choice);
        EXPECT_EQ(choice.error().code(), code);
    }
    EXPECT_TRUE(read_socks_verdict("\1\0"s));
    EXPECT_FALSE(read_socks_verdict("\1\1"s));
}

TEST(Socks, WhatAProxyReplies) {
    EXPECT_EQ(read_socks_reply("\5\0\0\1\x7f"s).value(), 5U);
    EXPECT_EQ(read_socks_reply("\5\0\0\4\0"s).value(), 17U);
    EXPECT_EQ(read_socks_reply("\5\0\0\3\x09"s).value(), 11U);
    EXPECT_EQ(read_socks_reply("\5\0\0\3\xff"s).value(), 257U);
    const std::pair<std::string, const char*> kRows[] = {
        {"\5\1\0\1\0"s, "failed"},     {"\5\2\0\1\0"s, "forbid"},
        {"\5\5\0\1\0"s, "refused"},    {"\5\x08\0\1\0"s, "address"},
        {"\5\x09\0\1\0"s, "number 9"}, {"\4\0\0\1\0"s, "SOCKS 5"},
        {"\5\0\0\2\0"s, "SOCKS 5"},    {""s, "SOCKS 5"}};
    for (const auto& [bytes, why] : kRows) {
        const auto rest = read_socks_reply(bytes);
        ASSERT_FALSE(rest) << why;
        EXPECT_THAT(rest.error().message(), HasSubstr(why));
    }
}

}  // namespace
}  // namespace muster::net::socks_test
