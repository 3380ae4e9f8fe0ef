#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "base/test_growth.h"
#include "base/time/duration.h"
#include "kube/objects/selector.h"
#include "kube/values/json_path.h"
#include "kube/values/quantity.h"
#include "kube/values/time.h"

// The small texts that clients send in queries and fields are as long as they like.

namespace muster::kube::text_growth_test {
namespace {

std::string one_of_many(std::size_t size) {
    return "a in (" + repeated(size, [](std::size_t i) { return fmt::format("v{},", i * 7919); }) +
           "v)";
}
std::string many_labels(std::size_t size) {
    return repeated(size, [](std::size_t i) { return fmt::format("k{}!=v,", i); }) + "k";
}
std::string blanks(std::size_t size) { return "a" + std::string(size, ' ') + "= b"; }
void label_selector(std::string_view text) {
    const Result<LabelSelector> selector = LabelSelector::parse(text);
    if (selector) {
        (void)selector->to_string();
        (void)selector->matches({{"a", "v7919"}});
    }
}

std::string many_fields(std::size_t size) {
    return repeated(size, [](std::size_t i) { return fmt::format("metadata.name!=n{},", i); });
}
std::string escapes(std::size_t size) {
    return "metadata.name=" + repeated(size, [](std::size_t) { return std::string("\\,"); });
}
std::string no_terms(std::size_t size) { return std::string(size, ','); }
void field_selector(std::string_view text) {
    const auto requirements = parse_field_selector(text);
    if (requirements) (void)to_string(*requirements);
}

std::string long_path(std::size_t size) {
    return repeated(size, [](std::size_t) { return std::string(".a[*]"); });
}
std::string long_filter(std::size_t size) {
    return ".a[?(@" + repeated(size, [](std::size_t) { return std::string(".b"); }) + "==\"x\")]";
}
std::string bad_path(std::size_t size) { return long_path(size) + "["; }
void path_text(std::string_view text) { (void)JsonPath::parse(text); }

/// A list of lists, each of which all paths look at.
std::string many_items(std::size_t size) {
    return "{\"a\":[" +
           repeated(size,
                    [](std::size_t) {
                        return std::string("{\"a\":[{\"a\":1},2],\"b\":{\"c\":\"x\"}},");
                    }) +
           "0]}";
}
void paths_through(std::string_view text) {
    const json::value value = json::parse(text);
    for (const char* path : {".a[*].a[*].a", ".a[?(@.b.c==\"x\")].a[-1]", ".*[1:].b.c"})
        ASSERT_GT(JsonPath::parse(path)->find(value).size(), 1u);
}

std::string digits(std::size_t size) { return std::string(size, '1') + "Gi"; }
std::string zeros(std::size_t size) { return std::string(size, '0') + "1m"; }
std::string fraction(std::size_t size) { return "0." + std::string(size, '0') + "1"; }
std::string exponent(std::size_t size) { return "1e" + std::string(size, '0') + "1"; }
void quantity(std::string_view text) { (void)Quantity::parse(text); }

std::string moment(std::size_t size) {
    return "2026-01-02T03:04:05." + std::string(size, '1') + "Z";
}
void time(std::string_view text) { (void)parse_time(text); }

std::string hours(std::size_t size) {
    return repeated(size, [](std::size_t) { return std::string("0.1h1m"); });
}
void duration(std::string_view text) { (void)parse_duration(text); }

class TextGrowth : public ::testing::TestWithParam<GrowthCase> {};

TEST_P(TextGrowth, IsLinear) { EXPECT_LE(growth_of(GetParam()), kLinearGrowth); }

INSTANTIATE_TEST_SUITE_P(
    Texts, TextGrowth,
    ::testing::Values(GrowthCase{"one_of_many", one_of_many, label_selector, 2'000},
                      GrowthCase{"many_labels", many_labels, label_selector, 5'000},
                      GrowthCase{"blanks", blanks, label_selector, 100'000},
                      GrowthCase{"many_fields", many_fields, field_selector, 5'000},
                      GrowthCase{"escapes", escapes, field_selector, 20'000},
                      GrowthCase{"no_terms", no_terms, field_selector, 50'000},
                      GrowthCase{"long_path", long_path, path_text, 5'000},
                      GrowthCase{"long_filter", long_filter, path_text, 5'000},
                      GrowthCase{"bad_path", bad_path, path_text, 5'000},
                      GrowthCase{"many_items", many_items, paths_through, 2'000},
                      GrowthCase{"digits", digits, quantity, 100'000},
                      GrowthCase{"zeros", zeros, quantity, 100'000},
                      GrowthCase{"fraction", fraction, quantity, 100'000},
                      GrowthCase{"exponent", exponent, quantity, 100'000},
                      GrowthCase{"moment", moment, time, 100'000},
                      GrowthCase{"hours", hours, duration, 10'000}),
    ::testing::PrintToStringParamName());

}  // namespace
}  // namespace muster::kube::text_growth_test
