#include "kube/schema/schema.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>

namespace muster::kube::schema_test {
namespace {

using ::testing::ElementsAre;

json::value J(std::string_view text) { return json::parse(text); }

Schema::Ptr schema(std::string_view openapi) {
    auto [made, causes] = Schema::from_openapi(J(openapi), "");
    for (const Cause& cause : causes) ADD_FAILURE() << cause.field << ": " << cause.message;
    return made;
}

TEST(FindUnknown, NamesTheNearestField) {
    Schema::Ptr pod = core_schema("Pod");
    const json::value value = J(R"({
        "kind":"Pod","spce":{},
        "metadata":{"labels":{"any":"thing"},"lables":{}},
        "spec":{"containers":[{"name":"a","imagee":"b","env":[{"nmae":"c"}]}],
                "restart_policy":"Never","zzzzzzzz":1}})");
    std::vector<std::string> found;
    for (const UnknownField& field : find_unknown(*pod, value))
        found.push_back(field.path + " -> " + field.nearest);
    EXPECT_THAT(found, ElementsAre("spce -> spec", "metadata.lables -> labels",
                                   "spec.containers[0].imagee -> image",
                                   "spec.containers[0].env[0].nmae -> name",
                                   "spec.restart_policy -> restartPolicy", "spec.zzzzzzzz -> "));
}

TEST(FindUnknown, NamesAHundredOfManyFields) {
    json::object spec;
    for (int i = 0; i < 50'000; ++i) spec.emplace("unknown" + std::to_string(i), i);
    json::value pod = {{"spec", std::move(spec)}};
    EXPECT_EQ(find_unknown(*core_schema("Pod"), pod).size(), 100u);
    prune(*core_schema("Pod"), pod);
    EXPECT_EQ(pod, J(R"({"spec":{}})"));
}

TEST(Prune, RemovesUnknownFieldsAndUnwantedNulls) {
    Schema::Ptr s = schema(R"({"type":"object","properties":{
        "a":{"type":"string"},
        "n":{"type":"string","nullable":true},
        "open":{"type":"object","x-kubernetes-preserve-unknown-fields":true,
                "properties":{"known":{"type":"object","properties":{"k":{"type":"string"}}}}},
        "map":{"type":"object","additionalProperties":{"type":"string"}},
        "list":{"type":"array","items":{"type":"object","properties":{"i":{"type":"integer"}}}},
        "any":{"x-kubernetes-preserve-unknown-fields":true}}})");
    json::value value = J(R"({"apiVersion":"v1","kind":"K","metadata":{"name":"m","bogus":1},
        "a":null,"n":null,"gone":1,
        "open":{"kept":1,"known":{"k":"v","gone":1}},
        "map":{"a":"b","c":null},
        "list":[{"i":1,"gone":1},{}],
        "any":{"kept":null}})");
    prune(*s, value);
    EXPECT_EQ(value, J(R"({"apiVersion":"v1","kind":"K","metadata":{"name":"m"},
        "n":null,
        "open":{"kept":1,"known":{"k":"v"}},
        "map":{"a":"b"},
        "list":[{"i":1},{}],
        "any":{"kept":null}})"));
}

TEST(Prune, KeepsTheOrderOfFields) {
    json::value value = J(R"({"kind":"Pod","x":1,"spec":{},"apiVersion":"v1"})");
    prune(*core_schema("Pod"), value);
    EXPECT_EQ(json::serialize(value), R"({"kind":"Pod","spec":{},"apiVersion":"v1"})");
}

TEST(ApplyDefaults, SetsThemWhereTheParentExists) {
    Schema::Ptr s = schema(R"({"type":"object","properties":{
        "spec":{"type":"object","properties":{
            "n":{"type":"integer","default":3},
            "inner":{"type":"object","default":{},"properties":{
                "s":{"type":"string","default":"x"}}},
            "absent":{"type":"object","properties":{"d":{"type":"string","default":"y"}}},
            "list":{"type":"array","items":{"type":"object","properties":{
                "p":{"type":"string","default":"TCP"}}}},
            "map":{"type":"object","additionalProperties":{"type":"object","properties":{
                "q":{"type":"boolean","default":true}}}}}}}})");
    struct Row {
        const char* before;
        const char* after;
    };
    const Row kRows[] = {
        {R"({})", R"({})"},  // no spec, no defaults
        {R"({"spec":{}})", R"({"spec":{"n":3,"inner":{"s":"x"}}})"},
        {R"({"spec":{"n":5,"inner":{"s":"z"}}})", R"({"spec":{"n":5,"inner":{"s":"z"}}})"},
        {R"({"spec":{"n":null,"inner":{}}})", R"({"spec":{"n":3,"inner":{"s":"x"}}})"},
        {R"({"spec":{"list":[{},{"p":"UDP"}],"map":{"a":{}}}})",
         R"({"spec":{"list":[{"p":"TCP"},{"p":"UDP"}],"map":{"a":{"q":true}},"n":3,
             "inner":{"s":"x"}}})"},
        {R"({"spec":[1]})", R"({"spec":[1]})"},  // validation names it
    };
    for (const Row& row : kRows) {
        json::value value = J(row.before);
        apply_defaults(*s, value);
        EXPECT_EQ(value, J(row.after)) << row.before;
    }
}

TEST(Defaults, MakeNoMoreOfAnObjectThanCouldBeStored) {
    const auto s = schema(fmt::format(
        R"({{"type":"object","properties":{{"list":{{"type":"array","items":{{"type":"object",
        "properties":{{"a":{{"type":"string","default":"{}"}}}}}}}}}}}})",
        std::string(1000, 'x')));
    json::value value = {{"list", json::array(10'000, json::object())}};
    EXPECT_TRUE(apply_defaults(*s, value));
    const json::array& list = value.at("list").as_array();
    const auto filled = std::ranges::count_if(
        list, [](const json::value& item) { return item.as_object().contains("a"); });
    EXPECT_GT(filled, 4000);
    EXPECT_LT(filled, 4200);
}

}  // namespace
}  // namespace muster::kube::schema_test
