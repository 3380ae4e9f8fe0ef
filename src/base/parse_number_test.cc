#include "base/parse_number.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace muster::parse_number_test {
namespace {

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
    EXPECT_EQ(parse_number<int>("42"), 42);
    EXPECT_EQ(parse_number<int>("-7"), -7);
    EXPECT_EQ(parse_number<int>("007"), 7);
    for (const char* text : {"", " 1", "1 ", "1\n", "+1", "1x", "0x10", "1.5", "1e3", "-", "--1"})
        EXPECT_EQ(parse_number<int>(text), std::nullopt) << text;
}

TEST(ParseNumber, WhatTheTypeDoesNotHoldIsNone) {
    EXPECT_EQ(parse_number<std::uint8_t>("255"), 255);
    EXPECT_EQ(parse_number<std::uint8_t>("256"), std::nullopt);
    EXPECT_EQ(parse_number<std::uint32_t>("-1"), std::nullopt);
    EXPECT_EQ(parse_number<std::int64_t>("-9223372036854775808"),
              std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(parse_number<std::int64_t>("9223372036854775808"), std::nullopt);
}

TEST(ParseNumber, OfAnotherBaseHasNoPrefix) {
    EXPECT_EQ(parse_number<unsigned>("fF", 16), 255U);
    EXPECT_EQ(parse_number<unsigned>("17", 8), 15U);
    EXPECT_EQ(parse_number<unsigned>("0xff", 16), std::nullopt);
    EXPECT_EQ(parse_number<unsigned>("18", 8), std::nullopt);
}

TEST(ParseNumber, OfAFraction) {
    EXPECT_EQ(parse_number<double>("0.5"), 0.5);
    EXPECT_EQ(parse_number<double>("1."), 1.0);
    EXPECT_EQ(parse_number<double>("-.5"), -0.5);
    EXPECT_EQ(parse_number<double>("1e3"), 1000.0);
    EXPECT_EQ(parse_number<double>("inf"), std::numeric_limits<double>::infinity());
    for (const char* text : {"", " 1", "+1", "1s", ".", "1e999"})
        EXPECT_EQ(parse_number<double>(text), std::nullopt) << text;
}

TEST(LeadingNumber, TakesWhatIsInFront) {
    EXPECT_EQ(leading_number<int>("42"), 42);
    EXPECT_EQ(leading_number<int>("-7\n"), -7);
    EXPECT_EQ(leading_number<int>("25%"), 25);
    for (const char* text : {"", " 1", "+1", "x1", "-", "99999999999"})
        EXPECT_EQ(leading_number<int>(text), std::nullopt) << text;
}

}  // namespace
}  // namespace muster::parse_number_test
