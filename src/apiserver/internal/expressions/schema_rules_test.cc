#include "apiserver/internal/expressions/schema_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace muster::apiserver::schema_rules_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A definition's schema whose spec is this.
kube::Schema::Ptr schema_of(const std::string& spec) {
    auto [schema, causes] = kube::Schema::from_openapi(
        json::parse(R"j({"type":"object","properties":{"spec":)j" + spec + "}}"), "schema");
    for (const Cause& cause : causes) ADD_FAILURE() << cause.field << ": " << cause.message;
    return schema;
}

std::vector<std::string> texts(const FieldErrors& field_errors) {
    std::vector<std::string> all;
    for (const Cause& cause : field_errors) all.push_back(cause.field + ": " + cause.message);
    return all;
}

/// What is wrong with the rules themselves.
std::vector<std::string> problems_of(const std::string& spec) {
    FieldErrors problems;
    SchemaRules::compile(schema_of(spec), "schema", problems);
    return texts(problems);
}

std::vector<std::string> checked(const std::string& schema, const std::string& spec,
                                 const std::string& before = {}) {
    FieldErrors problems;
    const auto rules = SchemaRules::compile(schema_of(schema), "schema", problems);
    EXPECT_THAT(texts(problems), IsEmpty());
    if (rules == nullptr) return {"no rules"};
    const json::value now{{"spec", json::parse(spec)}};
    FieldErrors field_errors;
    if (before.empty()) {
        rules->check(now, nullptr, field_errors);
    } else {
        const json::value stored{{"spec", json::parse(before)}};
        rules->check(now, &stored, field_errors);
    }
    return texts(field_errors);
}

constexpr const char* kRange = R"j({"type":"object",
    "properties":{"min":{"type":"integer"},"max":{"type":"integer"},"name":{"type":"string"}},
    "x-kubernetes-validations":[
        {"rule":"self.min <= self.max","message":"min must be <= max","fieldPath":".min"},
        {"rule":"!has(self.name) || self.name.size() < 5",
         "messageExpression":"'too long: ' + self.name","reason":"FieldValueForbidden"}]})j";

TEST(SchemaRulesTest, SaysWhichRuleIsBroken) {
    EXPECT_THAT(checked(kRange, R"j({"min":1,"max":2})j"), IsEmpty());
    EXPECT_THAT(checked(kRange, R"j({"min":3,"max":2,"name":"abcdef"})j"),
                ElementsAre("spec.min: Invalid value: \"object\": min must be <= max",
                            "spec: Forbidden: too long: abcdef"));
}

TEST(SchemaRulesTest, AFieldThatIsMissingFailsTheRule) {
    EXPECT_THAT(
        checked(kRange, R"j({"min":1})j"),
        ElementsAre("spec: Invalid value: \"object\": no such key: max evaluating rule: min "
                    "must be <= max"));
}

TEST(SchemaRulesTest, WhatHasNotChangedMayBeBroken) {
    EXPECT_THAT(checked(kRange, R"j({"min":3,"max":2})j", R"j({"min":3,"max":2})j"), IsEmpty());
    EXPECT_THAT(checked(kRange, R"j({"min":3,"max":2})j", R"j({"min":3,"max":1})j"),
                ElementsAre(HasSubstr("min must be <= max")));
}

TEST(SchemaRulesTest, RulesOfTransitionsNeedAStateBefore) {
    constexpr const char* kFixed = R"j({"type":"object","properties":{
        "size":{"type":"integer","x-kubernetes-validations":[
            {"rule":"self >= oldSelf","message":"can't shrink"}]},
        "kept":{"type":"string","x-kubernetes-validations":[
            {"rule":"oldSelf.hasValue() || self == 'first'","optionalOldSelf":true}]}}})j";
    EXPECT_THAT(checked(kFixed, R"j({"size":1})j"), IsEmpty());
    EXPECT_THAT(checked(kFixed, R"j({"size":2})j", R"j({"size":1})j"), IsEmpty());
    EXPECT_THAT(checked(kFixed, R"j({"size":1})j", R"j({"size":2})j"),
                ElementsAre("spec.size: Invalid value: \"integer\": can't shrink"));
    EXPECT_THAT(checked(kFixed, R"j({"size":1})j", R"j({"other":2})j"), IsEmpty());
    EXPECT_THAT(checked(kFixed, R"j({"kept":"second"})j"),
                ElementsAre(HasSubstr("failed rule: oldSelf.hasValue() || self == 'first'")));
    EXPECT_THAT(checked(kFixed, R"j({"kept":"second"})j", R"j({"kept":"first"})j"), IsEmpty());
}

TEST(SchemaRulesTest, ElementsAreMatchedByTheirKeys) {
    constexpr const char* kList = R"j({"type":"array","x-kubernetes-list-type":"map",
        "x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name"],
        "properties":{"name":{"type":"string"},"port":{"type":"integer"}},
        "x-kubernetes-validations":[{"rule":"self.port == oldSelf.port"}]}})j";
    EXPECT_THAT(checked(kList, R"j([{"name":"b","port":2},{"name":"a","port":1}])j",
                        R"j([{"name":"a","port":1},{"name":"b","port":2}])j"),
                IsEmpty());
    EXPECT_THAT(checked(kList, R"j([{"name":"b","port":3},{"name":"c","port":9}])j",
                        R"j([{"name":"a","port":1},{"name":"b","port":2}])j"),
                ElementsAre(HasSubstr("spec[0]: Invalid value: \"object\": failed rule")));
}

TEST(SchemaRulesTest, TypesComeFromTheSchema) {
    EXPECT_THAT(checked(R"j({"type":"object","properties":{
            "when":{"type":"string","format":"date-time"},
            "wait":{"type":"string","format":"duration"},
            "ratio":{"type":"number"},
            "port":{"x-kubernetes-int-or-string":true},
            "tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
            "labels":{"type":"object","additionalProperties":{"type":"string"}},
            "a-b":{"type":"boolean"}},
            "x-kubernetes-validations":[
            {"rule":"self.when.getFullYear() == 2026"},
            {"rule":"self.wait > duration('1m')"},
            {"rule":"self.ratio < 1"},
            {"rule":"type(self.port) == string ? self.port == '80%' : self.port == 80"},
            {"rule":"self.tags == ['b', 'a']"},
            {"rule":"self.labels.all(k, k.startsWith('x') && self.labels[k] != '')"},
            {"rule":"self.a__dash__b"}]})j",
                        R"j({"when":"2026-01-01T00:00:00Z","wait":"2m","ratio":0.5,"port":"80%",
                    "tags":["a","b"],"labels":{"x1":"v"},"a-b":true})j"),
                IsEmpty());
}

TEST(SchemaRulesTest, TheRootHasItsName) {
    auto [schema, causes] =
        kube::Schema::from_openapi(json::parse(R"j({"type":"object","x-kubernetes-validations":[
            {"rule":"self.metadata.name.startsWith('a') && self.kind == 'K'"}]})j"),
                                   "schema");
    ASSERT_NE(schema, nullptr);
    FieldErrors problems;
    const auto rules = SchemaRules::compile(schema, "schema", problems);
    ASSERT_THAT(texts(problems), IsEmpty());
    FieldErrors field_errors;
    rules->check(json::parse(R"j({"kind":"K","metadata":{"name":"b"}})j"), nullptr, field_errors);
    EXPECT_THAT(texts(field_errors), ElementsAre(HasSubstr("failed rule: self.metadata.name")));
}

TEST(SchemaRulesTest, RefusesWhatDoesNotCompile) {
    EXPECT_THAT(
        problems_of(R"j({"type":"object","properties":{"a":{"type":"integer"}},
            "x-kubernetes-validations":[{"rule":"self.a == 'x'"}]})j"),
        ElementsAre(
            "schema.properties.spec.x-kubernetes-validations[0].rule: Invalid value: \"self.a == "
            "'x'\": compilation failed: ERROR: <input>:1:8: found no matching overload for '_==_' "
            "applied to '(int, string)'\n | self.a == 'x'\n | .......^"));
    EXPECT_THAT(
        problems_of(R"j({"type":"object","x-kubernetes-validations":[{"rule":"int('x') == 1"}]})j"),
        ElementsAre(HasSubstr("program instantiation failed: type conversion error from 'string' "
                              "to 'int'")));
    EXPECT_THAT(problems_of(R"j({"type":"object","x-kubernetes-validations":[{"rule":"1"}]})j"),
                ElementsAre(HasSubstr("cel expression must evaluate to a bool")));
    EXPECT_THAT(problems_of(R"j({"type":"object","x-kubernetes-validations":[
                    {"rule":"true","messageExpression":"1"}]})j"),
                ElementsAre(HasSubstr("messageExpression must evaluate to a string")));
    EXPECT_THAT(problems_of(R"j({"type":"object","x-kubernetes-validations":[
                    {"rule":"true","optionalOldSelf":true}]})j"),
                ElementsAre(HasSubstr("may not be set if oldSelf is not used in rule")));
    EXPECT_THAT(problems_of(R"j({"type":"array","maxItems":5,"items":{"type":"integer",
                    "x-kubernetes-validations":[{"rule":"self == oldSelf"}]}})j"),
                ElementsAre(HasSubstr("oldSelf cannot be used on the uncorrelatable portion of the "
                                      "schema within schema.properties.spec")));
}

// The figures are those of kube-apiserver 1.33 for the same definitions.
TEST(SchemaRulesTest, RefusesWhatMayCostTooMuch) {
    EXPECT_THAT(
        problems_of(R"j({"type":"array","items":{"type":"string"},"x-kubernetes-validations":[
            {"rule":"self.all(x, self.all(y, x == y))"}]})j"),
        Contains(HasSubstr("estimated rule cost exceeds budget by factor of more than 100x")));
    EXPECT_THAT(
        problems_of(R"j({"type":"array","maxItems":10,"items":{"type":"string","maxLength":10},
            "x-kubernetes-validations":[{"rule":"self.all(x, self.all(y, x == y))"}]})j"),
        IsEmpty());
}

TEST(SchemaRulesTest, EndsWhenTheBudgetIsUsedUp) {
    std::string list = "[0";
    for (int i = 1; i < 900; ++i) list += "," + std::to_string(i);
    EXPECT_THAT(checked(R"j({"type":"array","maxItems":1000,"items":{"type":"integer"},
                    "x-kubernetes-validations":[
                    {"rule":"self.all(x, self.all(y, x + y >= 0))"}]})j",
                        list + "]"),
                ElementsAre(HasSubstr("no further validation rules will be run due to call cost "
                                      "exceeds limit for rule")));
}

TEST(SchemaRules, AFieldMayHaveTheNameOfAReservedWord) {
    for (const char* name : {"namespace", "package", "var", "__namespace__", "__var__"}) {
        const std::string schema = fmt::format(
            R"j({{"type":"object","properties":{{"namespace":{{"type":"string"}},
                "package":{{"type":"string"}},"var":{{"type":"string"}}}},
                "x-kubernetes-validations":[{{"rule":"!has(self.{0}) || self.{0} == 'a'"}}]}})j",
            name);
        EXPECT_THAT(checked(schema, R"({"namespace":"a","package":"a","var":"a"})"), IsEmpty());
        EXPECT_THAT(checked(schema, R"({"namespace":"b","package":"b","var":"b"})"),
                    ElementsAre(HasSubstr("failed rule")))
            << name;
    }
}

}  // namespace
}  // namespace muster::apiserver::schema_rules_test
