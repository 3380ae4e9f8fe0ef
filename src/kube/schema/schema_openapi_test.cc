#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <set>

#include "kube/schema/schema.h"
#include "kube/schema/schema_pool.h"

namespace muster::kube::schema_openapi_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

json::value J(std::string_view text) { return json::parse(text); }

TEST(SchemaOpenapi, WhatIsReadIsWrittenBack) {
    const json::value openapi = J(R"({"type":"object","description":"d","required":["s"],
      "properties":{
        "s":{"type":"string","enum":["a","b"],"default":"a"},
        "t":{"type":"string","pattern":"^a","minLength":1,"maxLength":5,"format":"date"},
        "i":{"type":"integer","format":"int32","minimum":0,"maximum":9},
        "n":{"type":"number","nullable":true},
        "p":{"x-kubernetes-int-or-string":true},
        "any":{"x-kubernetes-preserve-unknown-fields":true},
        "open":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"minProperties":1,
                "maxProperties":2},
        "m":{"type":"object","additionalProperties":{"type":"boolean"}},
        "atomic":{"type":"object","x-kubernetes-map-type":"atomic",
                  "additionalProperties":{"type":"boolean"}},
        "set":{"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"set",
               "minItems":1,"maxItems":2},
        "map":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
               "items":{"type":"object","required":["k"],"properties":{"k":{"type":"string"}}}}}})");
    auto [schema, causes] = Schema::from_openapi(openapi, "");
    ASSERT_TRUE(schema) << causes.front().field << causes.front().message;
    json::value written = schema->to_openapi();
    auto [again, problems] = Schema::from_openapi(written, "");
    for (const Cause& cause : problems) ADD_FAILURE() << cause.field << ": " << cause.message;
    // The root's metadata is implied in what is read, and so it is written.
    json::object& properties = written.at("properties").as_object();
    EXPECT_EQ(properties.at("metadata"), core_schema("ObjectMeta")->to_openapi());
    for (const char* implied : {"apiVersion", "kind", "metadata"}) properties.erase(implied);
    EXPECT_EQ(written, openapi);
}

TEST(SchemaOpenapi, QuantitiesAreRecognised) {
    const json::value written = core_schema("ResourceRequirements")->to_openapi();
    auto [schema, causes] = Schema::from_openapi(written, "");
    ASSERT_TRUE(schema);
    const Schema* limits = schema->property("limits");
    ASSERT_TRUE(limits);
    EXPECT_EQ(limits->additional->format, "quantity");
    auto problems = validate(*schema, J(R"({"limits":{"cpu":"two","memory":"1Gi"}})"));
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_EQ(problems[0].field, "limits.cpu");
}

TEST(SchemaOpenapi, TheUsualSpellingOfIntOrStringIsAccepted) {
    auto [schema, causes] = Schema::from_openapi(J(R"({"type":"object","properties":{
        "port":{"anyOf":[{"type":"integer"},{"type":"string"}],
                "x-kubernetes-int-or-string":true}}})"),
                                                 "");
    ASSERT_TRUE(schema);
    EXPECT_EQ(schema->property("port")->type, Schema::Type::kIntOrString);
}

struct Refusal {
    std::string name;
    std::string openapi;
    std::string reason;
    std::string field;
    std::string fragment;  ///< of the message
};

class NotStructuralTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(NotStructuralTest, IsRefusedByName) {
    const Refusal& row = GetParam();
    auto [schema, causes] =
        Schema::from_openapi(J(row.openapi), "spec.versions[0].schema.openAPIV3Schema");
    EXPECT_FALSE(schema);
    ASSERT_EQ(causes.size(), 1u);
    EXPECT_EQ(causes[0].reason, row.reason);
    EXPECT_EQ(causes[0].field, "spec.versions[0].schema.openAPIV3Schema" + row.field);
    EXPECT_THAT(causes[0].message, ::testing::HasSubstr(row.fragment));
}

std::string root(std::string_view x) {
    return R"({"type":"object","properties":{"x":)" + std::string(x) + "}}";
}
Refusal forbidden(std::string name, std::string_view x, std::string key, std::string fragment) {
    return {std::move(name), root(x), "FieldValueForbidden", ".properties.x." + std::move(key),
            std::move(fragment)};
}

INSTANTIATE_TEST_SUITE_P(
    Rules, NotStructuralTest,
    ::testing::Values(
        Refusal{"root_is_no_object", R"({"type":"string"})", "FieldValueInvalid", ".type",
                "must be object at the root"},
        Refusal{"root_without_type", R"({"properties":{"a":{"type":"string"}}})",
                "FieldValueRequired", ".type", "must not be empty"},
        Refusal{"schema_is_a_list", "[]", "FieldValueTypeInvalid", "", "must be an object"},
        Refusal{"node_without_type", root("{}"), "FieldValueRequired", ".properties.x.type",
                "must not be empty"},
        Refusal{"unknown_type", root(R"({"type":"strin"})"), "FieldValueNotSupported",
                ".properties.x.type", "\"strin\""},
        Refusal{"array_without_items", root(R"({"type":"array"})"), "FieldValueRequired",
                ".properties.x.items", "must be specified"},
        Refusal{"bad_default", root(R"({"type":"integer","default":"a"})"), "FieldValueTypeInvalid",
                ".properties.x.default", "must be of type integer"},
        Refusal{"bad_pattern", root(R"({"type":"string","pattern":"("})"), "FieldValueInvalid",
                ".properties.x.pattern", ""},
        Refusal{"look_around", root(R"~({"type":"string","pattern":"a(?=b)"})~"),
                "FieldValueInvalid", ".properties.x.pattern",
                "must be a valid regular expression, but isn't: error parsing regexp: invalid or "
                "unsupported Perl syntax: `(?=`"},
        Refusal{"back_reference", root(R"({"type":"string","pattern":"(a)\\1"})"),
                "FieldValueInvalid", ".properties.x.pattern", "invalid escape sequence: `\\1`"},
        Refusal{"large_pattern", root(R"({"type":"string","pattern":"\\pL{1000}"})"),
                "FieldValueInvalid", ".properties.x.pattern", "expression too large"},
        Refusal{"negative_length", root(R"({"type":"string","maxLength":-1})"),
                "FieldValueTypeInvalid", ".properties.x.maxLength", "zero or more"},
        Refusal{
            "list_type_unknown",
            root(R"({"type":"array","items":{"type":"string"},"x-kubernetes-list-type":"bag"})"),
            "FieldValueNotSupported", ".properties.x.x-kubernetes-list-type", "\"bag\""},
        Refusal{"list_type_of_a_string",
                root(R"({"type":"string","x-kubernetes-list-type":"set"})"), "FieldValueInvalid",
                ".properties.x.type", "must be array"},
        Refusal{"map_type_unknown", root(R"({"type":"object","x-kubernetes-map-type":"loose"})"),
                "FieldValueNotSupported", ".properties.x.x-kubernetes-map-type", "\"granular\""},
        Refusal{"map_type_of_a_list", root(R"({"type":"array","items":{"type":"string"},
                         "x-kubernetes-map-type":"atomic"})"),
                "FieldValueInvalid", ".properties.x.x-kubernetes-map-type", "objects"},
        Refusal{"list_map_without_keys", root(R"({"type":"array","x-kubernetes-list-type":"map",
                    "items":{"type":"object"}})"),
                "FieldValueRequired", ".properties.x.x-kubernetes-list-map-keys", "must not be"},
        Refusal{"list_map_key_optional", root(R"({"type":"array","x-kubernetes-list-type":"map",
                    "x-kubernetes-list-map-keys":["k"],
                    "items":{"type":"object","properties":{"k":{"type":"string"}}}})"),
                "FieldValueRequired", ".properties.x.x-kubernetes-list-map-keys", "\"k\""},
        Refusal{"keyword_unknown", root(R"({"type":"string","maxlength":5})"), "FieldValueInvalid",
                ".properties.x.maxlength", "unknown keyword"},
        forbidden("reference", R"({"type":"string","$ref":"#/x"})", "$ref", "structural"),
        forbidden("pattern_properties", R"({"type":"object","patternProperties":{}})",
                  "patternProperties", "structural"),
        forbidden("unique_items",
                  R"({"type":"array","items":{"type":"string"},"uniqueItems":true})", "uniqueItems",
                  "list-type"),
        forbidden("additional_false", R"({"type":"object","additionalProperties":false})",
                  "additionalProperties", "pruned"),
        forbidden("additional_and_properties",
                  R"({"type":"object","properties":{"a":{"type":"string"}},
                      "additionalProperties":{"type":"string"}})",
                  "additionalProperties", "together"),
        forbidden("nested_type", R"({"type":"string","not":{"type":"string"}})", "not.type",
                  "must be empty to be structural"),
        forbidden("nested_rules",
                  R"({"type":"string","allOf":[{"x-kubernetes-validations":[{"rule":"true"}]}]})",
                  "allOf[0].x-kubernetes-validations", "must be empty to be structural"),
        forbidden("nested_metadata",
                  R"({"type":"object","properties":{"metadata":{"type":"object"}},
                      "anyOf":[{"properties":{"metadata":{}}}]})",
                  "anyOf[0].properties.metadata", "nested context"),
        Refusal{"field_of_the_root_unknown",
                R"({"type":"object","oneOf":[{"properties":{"a":{"pattern":"x"}}}]})",
                "FieldValueRequired", ".properties.a", "openAPIV3Schema.oneOf[0].properties.a"}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(SchemaOpenapi, ReadsRulesAndWritesThemAgain) {
    const json::value openapi = json::parse(R"j({"type":"object","properties":{"spec":{
        "type":"object","properties":{"a":{"type":"integer"},
                                      "labels":{"type":"object",
                                                "additionalProperties":{"type":"string"}}},
        "x-kubernetes-validations":[
            {"rule":"self.a > 0","message":"positive","reason":"FieldValueForbidden",
             "fieldPath":".a"},
            {"rule":"oldSelf.hasValue()","messageExpression":"'x'","optionalOldSelf":true,
             "fieldPath":".labels['a.b']"}]}}})j");
    const auto [schema, causes] = Schema::from_openapi(openapi, "schema");
    ASSERT_THAT(causes, IsEmpty());
    EXPECT_TRUE(schema->has_rules());
    const Schema* spec = schema->property("spec");
    ASSERT_EQ(spec->rules.size(), 2);
    EXPECT_EQ(spec->rules[0].blamed, "a");
    EXPECT_EQ(spec->rules[1].blamed, "labels[a.b]");
    EXPECT_FALSE(spec->property("a")->has_rules());
    EXPECT_EQ(spec->to_openapi().at("x-kubernetes-validations"),
              openapi.at("properties").at("spec").at("x-kubernetes-validations"));
}

TEST(SchemaOpenapi, RefusesRulesThatSayTooLittleOrTooMuch) {
    auto problems = [](const char* rule) {
        const json::value openapi = json::parse(
            std::string(R"({"type":"object","x-kubernetes-validations":[)") + rule + "]}");
        std::vector<std::string> texts;
        for (const Cause& cause : Schema::from_openapi(openapi, "schema").second)
            texts.push_back(cause.field + ": " + cause.message);
        return texts;
    };
    EXPECT_THAT(problems(R"({"rule":" "})"),
                ElementsAre("schema.x-kubernetes-validations[0].rule: Required value: rule is not "
                            "specified"));
    EXPECT_THAT(problems(R"({"rule":"a\n&& b"})"),
                ElementsAre(HasSubstr("message must be specified if rule contains line breaks")));
    EXPECT_THAT(problems(R"({"rule":"a","message":" "})"),
                ElementsAre(HasSubstr("message must be non-empty if specified")));
    EXPECT_THAT(problems(R"({"rule":"a","reason":"Other"})"),
                ElementsAre(HasSubstr("Unsupported value: \"Other\"")));
    EXPECT_THAT(problems(R"({"rule":"a","fieldPath":".none"})"),
                ElementsAre(HasSubstr("fieldPath must be a valid path")));
    EXPECT_THAT(problems(R"({"rule":1})"),
                ElementsAre(HasSubstr("must be a string"), HasSubstr("rule is not specified")));
    EXPECT_THAT(problems(R"({"rule":"a","other":1})"),
                ElementsAre(HasSubstr("unknown keyword of a rule")));
}

TEST(SchemaOpenapi, AllProblemsAtOnce) {
    auto [schema, causes] = Schema::from_openapi(
        J(R"({"type":"object","properties":{"a":{},"b":{"type":"x"},"c":{"type":"array"}}})"), "s");
    std::vector<std::string> fields;
    for (const Cause& cause : causes) fields.push_back(cause.field);
    EXPECT_THAT(fields,
                ElementsAre("s.properties.a.type", "s.properties.b.type", "s.properties.c.items"));
}

TEST(SchemaOpenapi, ADeepSchemaIsRefused) {
    json::value nested = {{"type", "string"}};
    for (int i = 0; i < 1000; ++i)
        nested = {{"type", "object"}, {"properties", {{"p", std::move(nested)}}}};
    auto [schema, causes] = Schema::from_openapi(nested, "");
    EXPECT_FALSE(schema);
    ASSERT_FALSE(causes.empty());
    EXPECT_THAT(causes[0].message, ::testing::HasSubstr("too deeply"));
}

TEST(SchemaOpenapi, MetadataIsAlwaysObjectMeta) {
    auto [schema, causes] =
        Schema::from_openapi(J(R"({"type":"object","properties":{"metadata":{"type":"object"},
             "t":{"type":"object","x-kubernetes-embedded-resource":true,
                  "x-kubernetes-preserve-unknown-fields":true}}})"),
                             "");
    ASSERT_TRUE(schema);
    EXPECT_TRUE(schema->property("metadata")->property("labels"));
    const Schema* embedded = schema->property("t");
    ASSERT_TRUE(embedded->property("metadata"));
    EXPECT_TRUE(embedded->property("metadata")->property("labels"));
}

// --- sharing

const char* const kWithPod = R"({"type":"object","properties":{"a":{"type":"object","properties":{
    "pod":{"type":"object","properties":{"name":{"type":"string"},"ports":{"type":"array",
        "items":{"type":"integer","format":"int32"}}}}}},"%":{"type":"string"}}})";

json::value with_pod(std::string name) {
    std::string text = kWithPod;
    return J(text.replace(text.find('%'), 1, name));
}

TEST(SchemaPool, EqualPartsAreShared) {
    SchemaPool pool;
    const Schema::Ptr first = from_openapi(with_pod("x"), "", pool).first;
    const Schema::Ptr second = from_openapi(with_pod("y"), "", pool).first;
    ASSERT_TRUE(first && second);
    EXPECT_NE(first, second);
    EXPECT_EQ(first->property("a"), second->property("a"));
    EXPECT_NE(second->property("y"), nullptr);
    EXPECT_EQ(second->property("x"), nullptr);
    EXPECT_EQ(second->to_openapi(), Schema::from_openapi(with_pod("y"), "").first->to_openapi());
}

TEST(SchemaPool, WhatIsWrongIsToldEachTime) {
    SchemaPool pool;
    const json::value wrong =
        J(R"({"type":"object","properties":{"a":{"type":"object","uniqueItems":true}}})");
    for (int i = 0; i < 2; ++i) {
        auto [schema, causes] = from_openapi(wrong, "here", pool);
        EXPECT_EQ(schema, nullptr);
        ASSERT_EQ(causes.size(), 1u);
        EXPECT_EQ(causes[0].field, "here.properties.a.uniqueItems");
    }
}

TEST(SchemaPool, KeepsNothingAlive) {
    SchemaPool pool;
    Schema::Ptr schema = from_openapi(with_pod("x"), "", pool).first;
    const Fingerprint part = fingerprint_of(J(R"({"type":"string"})"));
    EXPECT_NE(pool.find(part), nullptr);
    schema.reset();
    EXPECT_EQ(pool.find(part), nullptr);
}

TEST(SchemaPool, DropsWhatNobodyUses) {
    SchemaPool pool;
    for (int i = 0; i < 10'000; ++i)
        (void)from_openapi(J(R"({"type":"object","properties":{"a":{"type":"string","maxLength":)" +
                             std::to_string(i) + "}}}"),
                           "", pool);
    EXPECT_LT(pool.size(), 5'000u);
}

TEST(Fingerprint, OfJsonTellsTreesApart) {
    const std::vector<std::string> trees = {"null",
                                            "true",
                                            "false",
                                            "0",
                                            "1",
                                            "1.0",
                                            "-1",
                                            R"("")",
                                            R"("null")",
                                            "[]",
                                            "[[]]",
                                            "[[],[]]",
                                            "{}",
                                            R"({"a":{}})",
                                            R"({"a":[]})",
                                            R"(["a"])",
                                            R"(["a","b"])",
                                            R"([["a"],"b"])",
                                            R"({"a":"b"})",
                                            R"({"a":"b","c":"d"})",
                                            R"([{"a":1},{"b":2}])",
                                            R"([{"a":1,"b":2}])"};
    std::set<std::pair<std::uint64_t, std::uint64_t>> seen;
    for (const std::string& tree : trees) {
        const Fingerprint of = fingerprint_of(J(tree));
        EXPECT_TRUE(seen.emplace(of.high, of.low).second) << tree;
        EXPECT_EQ(fingerprint_of(J(tree)), of);
    }
}

}  // namespace
}  // namespace muster::kube::schema_openapi_test
