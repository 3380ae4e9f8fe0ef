#include "apiserver/requests/json_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace muster::apiserver::json_body_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(JsonBody, IsTheValueThatTheTextSays) {
    for (const char* text :
         {R"({})", R"(null)", R"([1,-2,3.5,18446744073709551615,"a\u00e9\n",true,false,null])",
          R"({"a":{"b":[{"c":1},{"d":[]}]},"e":""})", "\n {\"a\" : 1}\n"}) {
        const StatusResult<JsonBody> body = parse_json_body(text);
        ASSERT_TRUE(body.has_value()) << text;
        EXPECT_EQ(*body->value, json::parse(text)) << text;
        EXPECT_THAT(body->duplicate_fields, IsEmpty()) << text;
    }
    const std::string long_key(10'000, 'k');
    const StatusResult<JsonBody> body =
        parse_json_body("{\"" + long_key + "\":\"" + long_key + "\"}");
    ASSERT_TRUE(body.has_value());
    EXPECT_EQ(body->value->at(long_key).as_string(), long_key);
}

TEST(JsonBody, NoneIsNull) {
    for (const char* text : {"", " \r\n\t"}) EXPECT_EQ(parse_json_body(text)->value, nullptr);
}

TEST(JsonBody, FieldsThatComeTwiceAreNamedAndTheLastCounts) {
    const StatusResult<JsonBody> body =
        parse_json_body(R"({"a":1,"b":{"c":1,"c":2,"c":3},"l":[{"x":1},{"y":1,"y":2}],"a":2})");
    ASSERT_TRUE(body.has_value());
    EXPECT_THAT(body->duplicate_fields, ElementsAre("b.c", "b.c", "l[1].y", "a"));
    EXPECT_EQ(body->value->at("a"), 2);
    EXPECT_EQ(body->value->at("b").at("c"), 3);
}

TEST(JsonBody, WhatIsNotJsonIsRefusedWithThePlace) {
    for (const char* text : {"{", "{\"a\":}", "[1,]", "{} x", "{}{}", "nul", "\"\x01\"", "{'a':1}",
                             "{\"a\":1,}", "01", "\xff"}) {
        const StatusResult<JsonBody> body = parse_json_body(text);
        ASSERT_FALSE(body.has_value()) << text;
        EXPECT_EQ(body.error().error.code(), Code::kBadRequest);
        EXPECT_THAT(body.error().error.message(), testing::HasSubstr("at byte")) << text;
    }
}

TEST(JsonBody, DepthIsLimited) {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    EXPECT_TRUE(parse_json_body(nested(200)).has_value());
    EXPECT_FALSE(parse_json_body(nested(201)).has_value());
    EXPECT_FALSE(parse_json_body(std::string(1'000'000, '[')).has_value());
}

}  // namespace
}  // namespace muster::apiserver::json_body_test
