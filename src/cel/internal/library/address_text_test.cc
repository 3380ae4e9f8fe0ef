#include "cel/internal/library/address_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace muster::cel::address_text_test {
namespace {

std::string read(std::string_view text) {
    const auto address = read_address(text);
    if (!address) return address.error();
    std::string bytes;
    const std::size_t count = address->is_v4 ? 4 : 16;
    for (std::size_t i = 0; i < count; ++i) bytes += fmt::format("{:02x}", address->bytes[i]);
    return bytes + (address->has_zone ? "%" : "");
}

struct Row {
    std::string_view text;
    std::string_view result;
};

TEST(AddressTextTest, IsReadAsGoReadsIt) {
    constexpr Row kRows[] = {
        {"10.0.0.1", "0a000001"},
        {"0.0.0.0", "00000000"},
        {"255.255.255.255", "ffffffff"},
        {"::", "00000000000000000000000000000000"},
        {"::1", "00000000000000000000000000000001"},
        {"1::", "00010000000000000000000000000000"},
        {"1:2:3:4:5:6:7:8", "00010002000300040005000600070008"},
        {"fe80::1:2", "fe800000000000000000000000010002"},
        {"1::0:1", "00010000000000000000000000000001"},
        {"1:2:3:4:5:6:1.2.3.4", "00010002000300040005000601020304"},
        {"::FFFF:1.2.3.4", "00000000000000000000ffff01020304"},
        {"1::1.2.3.4", "00010000000000000000000001020304"},
        {"fe80::1%eth0", "fe800000000000000000000000000001%"},
        {"::%1", "00000000000000000000000000000000%"},
    };
    for (const Row& row : kRows) EXPECT_EQ(read(row.text), row.result) << row.text;
}

// What Go 1.24 says after ParseAddr("..."): .
TEST(AddressTextTest, SaysWhatGoSays) {
    constexpr Row kRows[] = {
        {"", "unable to parse IP"},
        {"x", "unable to parse IP"},
        {"a%b:", "missing IPv6 address"},
        {"1.2.3", "IPv4 address too short"},
        {"1.2.3.4.5", "IPv4 address too long"},
        {"1.2.3.04", "IPv4 field has octet with leading zero"},
        {"1.2.3.256", "IPv4 field has value >255"},
        {"1..2.3", R"(IPv4 field must have at least one digit (at ".2.3"))"},
        {".1.2.3", R"(IPv4 field must have at least one digit (at ".1.2.3"))"},
        {"1.2.3.", R"(IPv4 field must have at least one digit (at "."))"},
        {"1.2.3.x", R"(unexpected character (at "x"))"},
        {"1.2.3.4%a", R"(unexpected character (at "%a"))"},
        {"::%", "zone must be a non-empty string"},
        {"12345::", R"(each group must have 4 or less digits (at "12345::"))"},
        {":1", R"(each colon-separated field must have at least one digit (at ":1"))"},
        {"1:2x", R"(unexpected character, want colon (at "x"))"},
        {"1:", R"(colon must be followed by more characters (at ":"))"},
        {"1::2::3", R"(multiple :: in address (at ":3"))"},
        {"1:2:3", "address string too short"},
        {"1:2:3:4:5:6:7:8:9", R"(trailing garbage after address (at "9"))"},
        {"1:2:3:4:5:6:7:8::", "the :: must expand to at least one field of zeros"},
        {"1:2:1.2.3.4",
         R"(embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4"))"},
        {"::1:2:3:4:5:6:7:1.2.3.4",
         R"(too many hex fields to fit an embedded IPv4 at the end of the address (at "1.2.3.4"))"},
        {"::1.2.3.x", R"(unexpected character (at "x"))"},
    };
    for (const Row& row : kRows) {
        const auto address = read_address(row.text);
        ASSERT_FALSE(address) << row.text;
        EXPECT_EQ(address.error(), fmt::format("ParseAddr(\"{}\"): {}", row.text, row.result));
    }
}

}  // namespace
}  // namespace muster::cel::address_text_test
