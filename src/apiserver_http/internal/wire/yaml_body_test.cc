#include "apiserver_http/internal/wire/yaml_body.h"

#include <gtest/gtest.h>

namespace muster::apiserver_http::yaml_body_test {
namespace {

/// Knows one text.
Result<json::value> read_one(std::string_view text) {
    if (text == "a: 1" || text == "{a: 1}") return json::value{{"a", 1}};
    return Error(Code::kBadRequest, "line 1: why");
}

TEST(YamlBody, JsonIsReadAsJsonAndTheRestAsYaml) {
    const YamlText yaml{.read = read_one};
    struct Row {
        const char* text;
        const char* value;  ///< or what is wrong
        std::size_t duplicates = 0;
    };
    constexpr Row kRows[] = {
        {"a: 1", R"({"a":1})"},
        {"{a: 1}", R"({"a":1})"},
        {R"( {"a":2})", R"({"a":2})"},
        {R"({"a":2,"a":3})", R"({"a":3})", 1},
        {"[]", "[]"},
        {"b: 1", "the body of the request is not YAML: line 1: why"},
    };
    for (const Row& row : kRows) {
        const apiserver::StatusResult<apiserver::JsonBody> body = parse_yaml_body(row.text, yaml);
        EXPECT_EQ(body ? json::serialize(*body->value) : body.error().error.message(), row.value);
        if (body) EXPECT_EQ(body->duplicate_fields.size(), row.duplicates) << row.text;
    }
    EXPECT_EQ(parse_yaml_body("", yaml)->value, nullptr);
}

TEST(YamlBody, WithoutAReaderOnlyJsonIsRead) {
    EXPECT_EQ(json::serialize(*parse_yaml_body(R"({"a":1})", {})->value), R"({"a":1})");
    EXPECT_FALSE(parse_yaml_body("a: 1", {}).has_value());
}

}  // namespace
}  // namespace muster::apiserver_http::yaml_body_test
