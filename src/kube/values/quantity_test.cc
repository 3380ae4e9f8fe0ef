#include "kube/values/quantity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <limits>

namespace muster::kube::quantity_test {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::string canonical(std::string_view text) {
    Result<Quantity> quantity = Quantity::parse(text);
    return quantity ? quantity->to_string() : "error: " + quantity.error().message();
}

Quantity quantity(std::string_view text) { return Quantity::parse(text).value(); }

struct Row {
    const char* text;
    const char* canonical;
};

// apimachinery pkg/api/resource/quantity_test.go: TestQuantityParse, TestQuantityString,
// TestQuantityParseEmit, TestQuantityParseNonNumericPanic's counterparts, and the field reference.
TEST(Quantity, HasOneCanonicalForm) {
    constexpr Row kRows[] = {
        {"0", "0"},
        {"0n", "0"},
        {"0Ki", "0"},
        {"-0", "0"},
        {"0.0", "0"},
        {"0e9", "0"},
        {"00", "0"},
        {"1", "1"},
        {"+1", "1"},
        {"-1", "-1"},
        {"0001", "1"},
        {"1.", "1"},
        {".5", "500m"},
        {"1.0", "1"},
        {"1000m", "1"},
        {"1500m", "1500m"},
        {"0.5", "500m"},
        {"0.1", "100m"},
        {"1.1", "1100m"},
        {"100", "100"},
        {"1000", "1k"},
        {"1024", "1024"},
        {"12345", "12345"},
        {"1000000", "1M"},
        {"1k", "1k"},
        {"1000k", "1M"},
        {"1000E", "1000E"},
        {"3.000u", "3u"},
        {"500000n", "500u"},
        {"1e3", "1e3"},
        {"1E3", "1e3"},
        {"1e+3", "1e3"},
        {"1e0", "1"},
        {"1e1", "10"},
        {"12e6", "12e6"},
        {"1e-3", "1e-3"},
        {"100e-3", "100e-3"},
        {"1000e-3", "1"},
        {"1e27", "1e27"},
        {"1E", "1E"},
        {"1Ki", "1Ki"},
        {"8Ki", "8Ki"},
        {"100Ki", "100Ki"},
        {"1024Ki", "1Mi"},
        {"1.5Gi", "1536Mi"},
        {"0.5Gi", "512Mi"},
        {"1023Ki", "1023Ki"},
        {"7Mi", "7Mi"},
        {"1Ei", "1Ei"},
        {"0.5Ki", "512"},
        {"-1Ki", "-1Ki"},
        {"-0.5Gi", "-512Mi"},
        {"1.1Ki", "1126400m"},
        {"1.00001Mi", "1048586485760u"},
        {"0.0001Ki", "102400u"},
        {"9223372036854775807", "9223372036854775807"},
        {"9223372036854775808", "9223372036854775808"},
        {"9Ei", "9223372036854775807"},
        {"8Ei", "9223372036854775807"},
        {"-9Ei", "-9223372036854775807"},
        {"100000000000000000000000Ti", "9223372036854775807"},
    };
    for (const Row& row : kRows) {
        EXPECT_EQ(canonical(row.text), row.canonical) << row.text;
        EXPECT_EQ(canonical(row.canonical), row.canonical) << row.text;
    }
}

TEST(Quantity, RoundsAwayFromZeroBelowOneNano) {
    constexpr Row kRows[] = {
        {"0.1n", "1n"},
        {"0.0000000001", "1n"},
        {"1e-100", "1e-9"},
        {"1e-2000000000", "1e-9"},
        {"-0.1n", "-1n"},
        {"1.0000000001", "1000000001n"},
        {"1.1n", "2n"},
        {"9.9n", "10n"},
        {"0.000000000000000000000000000000000000000000000000001Ki", "1n"},
        {"0.1Ki", "102400m"},
        {"0.00000000001Mi", "10486n"},  // 10485.76 nano
        {"1.000000000000000000000000000000000000000001Ki", "1024000000001n"},
    };
    for (const Row& row : kRows) EXPECT_EQ(canonical(row.text), row.canonical) << row.text;
}

TEST(Quantity, RefusesWhatTheRealOneRefuses) {
    for (const char* text :
         {// TestQuantityParse, invalid
          "1.1.M", "1+1.0M", "0.1mi", "0.1am", "aoeu", ".5i", "1i", "-3.01i", "-3.01e-", " 1", "1 ",
          // the regular expression of the field reference
          "", "-", "+", ".", "-.", "--1", "+-1", "1e", "1e+", "1e+-3", "1e3.5", "1ki", "1KI", "1K",
          "1GB", "1mm", "0x10", "1_000", "1,5", "inf", "nan", "1\n", "1e99999999999999999999"}) {
        Result<Quantity> parsed = Quantity::parse(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().code(), Code::kInvalid);
        EXPECT_THAT(parsed.error().message(), HasSubstr("is not a quantity")) << text;
    }
    EXPECT_THAT(canonical("1.5GB"), HasSubstr("suffix \"GB\""));
}

TEST(Quantity, RefusesWhatIsBeyondItsRange) {
    EXPECT_EQ(canonical("1000000000E"), "1000000000E");
    for (const char* text : {"1000000001E", "1e28", "-1e28", "1e2000000000"})
        EXPECT_THAT(canonical(text), HasSubstr("larger than 10^27")) << text;
    EXPECT_THAT(canonical(std::string(100'000, '9')), HasSubstr("larger than 10^27"));
    EXPECT_EQ(canonical(std::string(100'000, '0') + "1"), "1");
    EXPECT_LT(canonical(std::string(100'000, 'x')).size(), 300u);
}

TEST(Quantity, ReadsJson) {
    auto read = [](const json::value& value) {
        Result<Quantity> parsed = Quantity::parse(value);
        return parsed ? parsed->to_string() : "error";
    };
    EXPECT_EQ(read("500m"), "500m");
    EXPECT_EQ(read(" 500m\n"), "500m");
    EXPECT_EQ(read(2), "2");
    EXPECT_EQ(read(-2), "-2");
    EXPECT_EQ(read(0.5), "500m");
    EXPECT_EQ(read(1.5e9), "1500M");
    EXPECT_EQ(read(json::parse("18446744073709551615")), "18446744073709551615");
    EXPECT_EQ(read(nullptr), "0");
    EXPECT_EQ(read(""), "error");
    EXPECT_EQ(read("  "), "error");
    EXPECT_EQ(read(true), "error");
    EXPECT_EQ(read(json::array{}), "error");
    EXPECT_EQ(read(json::object{}), "error");
    EXPECT_EQ(read(std::numeric_limits<double>::quiet_NaN()), "error");
    EXPECT_EQ(read(std::numeric_limits<double>::infinity()), "error");
    EXPECT_EQ(read(1e300), "error");
}

struct CeilRow {
    const char* text;
    std::int64_t units;
    std::int64_t milli;
};

TEST(Quantity, CeilsAwayFromZero) {
    constexpr CeilRow kRows[] = {
        {"0", 0, 0},
        {"1m", 1, 1},
        {"1n", 1, 1},
        {"1.1", 2, 1100},
        {"2", 2, 2000},
        {"-1m", -1, -1},
        {"-1.5", -2, -1500},
        {"-1n", -1, -1},
        {"1Gi", 1 << 30, (1LL << 30) * 1000},
        {"9223372036854775807", kMax, kMax},
        {"1e27", kMax, kMax},
        {"-1e27", std::numeric_limits<std::int64_t>::min(),
         std::numeric_limits<std::int64_t>::min()},
    };
    for (const CeilRow& row : kRows) {
        EXPECT_EQ(quantity(row.text).ceil_units(), row.units) << row.text;
        EXPECT_EQ(quantity(row.text).ceil_milli(), row.milli) << row.text;
    }
}

TEST(Quantity, ComparesAndAddsExactly) {
    EXPECT_EQ(quantity("1000m"), quantity("1"));
    EXPECT_EQ(quantity("1Ki"), quantity("1024"));
    EXPECT_LT(quantity("999999999n"), quantity("1"));
    EXPECT_LT(quantity("-1"), quantity("0"));
    EXPECT_EQ((quantity("0.1") + quantity("0.2")), quantity("0.3"));
    EXPECT_EQ((quantity("1Gi") + quantity("512Mi")).to_string(), "1536Mi");
    EXPECT_EQ((Quantity() + quantity("1Gi")).to_string(), "1Gi");
    EXPECT_EQ((quantity("1Gi") - quantity("1Gi")).to_string(), "0");
    EXPECT_TRUE((quantity("1") - quantity("2")).is_negative());
    EXPECT_EQ((quantity("1e27") + quantity("1e27")), quantity("1e27"));
    EXPECT_EQ((quantity("-1e27") - quantity("1e27")), quantity("-1e27"));
}

TEST(Quantity, IsMadeFromNumbers) {
    EXPECT_EQ(Quantity::from_units(kMax).to_string(), "9223372036854775807");
    EXPECT_EQ(Quantity::from_units(1 << 20, Quantity::Format::kBinarySi).to_string(), "1Mi");
    EXPECT_EQ(Quantity::from_milli(1500).to_string(), "1500m");
    EXPECT_EQ(Quantity::from_milli(kMax).ceil_milli(), kMax);
}

}  // namespace
}  // namespace muster::kube::quantity_test
