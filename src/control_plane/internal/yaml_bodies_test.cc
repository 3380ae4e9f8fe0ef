#include "control_plane/internal/yaml_bodies.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace muster::control_plane::yaml_bodies_test {
namespace {

TEST(YamlBodies, AreReadOrRefusedWithTheirPlace) {
    struct Row {
        const char* text;
        const char* outcome;
    };
    constexpr Row kRows[] = {
        {"a: 1\nb: [x, \"2\"]\n", R"({"a":1,"b":["x","2"]})"},
        {"# nothing but this\na: yes\n", R"({"a":true})"},
        {"a: 1\na: 2\n",
         "line 2, column 1: the key \"a\" is there twice; first at line 1, column 1"},
        {"a: 1\n---\nb: 2\n",
         "line 2, column 1: the document has ended before this; start a new one with a line "
         "\"---\""},
        {"a: \x01\n", "line 1, column 4"},
        {"a: [1\n",
         "line 2, column 1: the list that starts at line 1, column 4 is not closed: a "
         "\"]\" or \",\" is missing before this"},
    };
    for (const Row& row : kRows) {
        const Result<json::value> read = yaml_bodies().read(row.text);
        const std::string outcome =
            read ? json::serialize(*read) : std::string(read.error().message());
        EXPECT_TRUE(outcome.starts_with(row.outcome)) << row.text << outcome;
    }
    EXPECT_FALSE(yaml_bodies().read(std::string(2'000'000, 'a')).has_value());
}

TEST(YamlBodies, WhatIsWrittenReadsBack) {
    const json::value value =
        json::parse(R"({"a":["1",1,true,"true",null,{}],"b":{"c: d":"x\ny"}})");
    const Result<json::value> read = yaml_bodies().read(yaml_bodies().write(value));
    ASSERT_TRUE(read.has_value()) << read.error().message();
    EXPECT_EQ(*read, value);
}

TEST(YamlBodies, HalfASurrogateIsNoCharacter) {
    for (const char* text : {"a: \"\\ud800\"", "a: \"\\U0000d800\"", "a: \"\\U00110000\"",
                             "a: \xff", "\"\\udfff\": a"})
        EXPECT_FALSE(yaml_bodies().read(text).has_value()) << text;
}

TEST(YamlBodies, WhatIsWrittenIsAsDeepAsItsValue) {
    json::value deep = 1;
    for (int i = 0; i < 200; ++i) deep = json::object{{"a", std::move(deep)}};
    EXPECT_EQ(*yaml_bodies().read(yaml_bodies().write(json::object{{"a", 1}})),
              json::value(json::object{{"a", 1}}));
    EXPECT_GT(yaml_bodies().write(deep).size(), 200u * 200u);
    EXPECT_NE(yaml_bodies().write(json::object{{"a", "\xff"}}), "") << "of an older store";
}

TEST(YamlBodies, WhatOthersReadAsADateIsQuoted) {
    for (const char* text : {"2026-01-02T03:04:05Z", "2026-01-02", "12:30:45"})
        EXPECT_EQ(yaml_bodies().write(json::object{{"t", text}}), fmt::format("t: \"{}\"\n", text));
    EXPECT_EQ(yaml_bodies().write(json::object{{"t", "2026-01-02x"}}), "t: 2026-01-02x\n");
}

}  // namespace
}  // namespace muster::control_plane::yaml_bodies_test
