#include "manifest/yaml/yaml_scalar.h"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

namespace muster::manifest::yaml_scalar_test {
namespace {

struct Row {
    std::string text;
    std::string json;
};
class PlainScalar : public testing::TestWithParam<Row> {};
TEST_P(PlainScalar, ReadsAsTheKubernetesToolsDo) {
    Result<json::value> value = resolve_plain(GetParam().text);
    EXPECT_EQ(value ? json::serialize(*value) : "error", GetParam().json) << GetParam().text;
}

// Expected values: goyaml.v2 of sigs.k8s.io/yaml, resolve.go.
INSTANTIATE_TEST_SUITE_P(
    Resolve, PlainScalar,
    testing::Values(
        Row{"", "null"}, Row{"~", "null"}, Row{"null", "null"}, Row{"Null", "null"},
        Row{"NULL", "null"}, Row{"nULL", R"("nULL")"}, Row{"true", "true"}, Row{"True", "true"},
        Row{"tRUE", R"("tRUE")"}, Row{"yes", "true"}, Row{"Yes", "true"}, Row{"YES", "true"},
        Row{"y", "true"}, Row{"Y", "true"}, Row{"on", "true"}, Row{"ON", "true"},
        Row{"no", "false"}, Row{"n", "false"}, Row{"N", "false"}, Row{"off", "false"},
        Row{"Off", "false"}, Row{"False", "false"}, Row{"yess", R"("yess")"}, Row{"0", "0"},
        Row{"-0", "0"}, Row{"7", "7"}, Row{"+7", "7"}, Row{"-7", "-7"}, Row{"010", "8"},
        Row{"0o17", "15"}, Row{"0x1F", "31"}, Row{"-0x10", "-16"}, Row{"0b101", "5"},
        Row{"-0b11", "-3"}, Row{"1_000", "1000"}, Row{"08", "8E0"}, Row{"0x", R"("0x")"},
        Row{"-", R"("-")"}, Row{"+", R"("+")"}, Row{"9223372036854775807", "9223372036854775807"},
        Row{"9223372036854775808", "9223372036854775808"},
        Row{"18446744073709551615", "18446744073709551615"}, Row{"18446744073709551616", "error"},
        Row{"-9223372036854775808", "-9223372036854775808"}, Row{"-9223372036854775809", "error"},
        Row{"1.5", "1.5E0"}, Row{".5", "5E-1"}, Row{"1.", "1E0"}, Row{"1e3", "1E3"},
        Row{"-1.5e-3", "-1.5E-3"}, Row{"+1.5", "1.5E0"}, Row{".", R"(".")"},
        Row{"1.2.3", R"("1.2.3")"}, Row{"1e", R"("1e")"}, Row{"1e999", "error"},
        Row{".nan", "error"}, Row{".NaN", "error"}, Row{".inf", "error"}, Row{"-.inf", "error"},
        Row{"+.INF", "error"}, Row{"nan", R"("nan")"}, Row{"inf", R"("inf")"},
        Row{"2020-01-01", R"("2020-01-01")"},
        Row{"2020-01-01T00:00:00Z", R"("2020-01-01T00:00:00Z")"}, Row{"12:30:45", R"("12:30:45")"},
        Row{"500m", R"("500m")"}, Row{"1Gi", R"("1Gi")"}, Row{"0.5.1", R"("0.5.1")"},
        Row{"1,000", R"("1,000")"}, Row{"<<", R"("<<")"}, Row{"a b", R"("a b")"}));

}  // namespace
}  // namespace muster::manifest::yaml_scalar_test
