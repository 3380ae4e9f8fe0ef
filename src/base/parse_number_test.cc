#include "base/parse_number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace muster {
namespace {

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
    EXPECT_EQ(parse_number<int>("42"), 42);
    EXPECT_EQ(parse_number<int>("-7"), -7);
    EXPECT_EQ(parse_number<double>("0.5"), 0.5);
    for (const char* text : {"", " 1", "1 ", "+1", "1x", "0x10", "1.5", "-"})
        EXPECT_EQ(parse_number<int>(text), std::nullopt) << text;
}

TEST(ParseNumber, WhatTheTypeDoesNotHoldIsNone) {
    EXPECT_EQ(parse_number<std::uint8_t>("255"), 255);
    EXPECT_EQ(parse_number<std::uint8_t>("256"), std::nullopt);
    EXPECT_EQ(parse_number<std::uint32_t>("-1"), std::nullopt);
}

}  // namespace
}  // namespace muster
