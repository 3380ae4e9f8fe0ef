#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "kube/schema/schema.h"

namespace muster::kube::schema_constraint_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

Schema::Ptr read(const std::string& spec) {
    auto [schema, causes] = Schema::from_openapi(
        json::parse(R"({"type":"object","properties":{"spec":)" + spec + "}}"), "");
    EXPECT_THAT(causes, IsEmpty());
    return schema;
}

std::vector<std::string> texts(const std::vector<Cause>& causes) {
    std::vector<std::string> all;
    for (const Cause& cause : causes) all.push_back(cause.field + ": " + cause.message);
    return all;
}

std::vector<std::string> problems(const Schema::Ptr& schema, const std::string& spec) {
    return texts(validate(*schema, json::parse(R"({"spec":)" + spec + "}")));
}

std::vector<std::string> problems_of_change(const Schema::Ptr& schema, const std::string& before,
                                            const std::string& after) {
    return texts(validate_change(*schema, json::parse(R"({"spec":)" + after + "}"),
                                 json::parse(R"({"spec":)" + before + "}")));
}

const char* const kOne = R"({"type":"object","properties":{"a":{"type":"string"},
    "b":{"type":"integer"}},"oneOf":[{"required":["a"]},{"required":["b"]}]})";

TEST(SchemaConstraint, ExactlyOneAlternative) {
    const Schema::Ptr schema = read(kOne);
    EXPECT_THAT(problems(schema, R"({"a":"x"})"), IsEmpty());
    EXPECT_THAT(problems(schema, R"({"b":1})"), IsEmpty());
    EXPECT_THAT(problems(schema, R"({"a":"x","b":1})"),
                ElementsAre("<nil>: Invalid value: \"\": \"spec\" must validate one and only one "
                            "schema (oneOf). Found 2 valid alternatives"));
    EXPECT_THAT(problems(schema, "{}"),
                ElementsAre("<nil>: Invalid value: \"\": \"spec\" must validate one and only one "
                            "schema (oneOf). Found none valid",
                            "spec.a: Required value"));
}

TEST(SchemaConstraint, AnyAllAndNone) {
    const Schema::Ptr any = read(R"({"type":"string","anyOf":[{"pattern":"^a"},{"minLength":5}]})");
    EXPECT_THAT(problems(any, R"("abc")"), IsEmpty());
    EXPECT_THAT(problems(any, R"("xyzxyz")"), IsEmpty());
    EXPECT_THAT(problems(any, R"("xyz")"),
                ElementsAre("<nil>: Invalid value: \"\": \"spec\" must validate at least one "
                            "schema (anyOf)",
                            "spec: Invalid value: \"xyz\": spec in body should match '^a'"));
    const Schema::Ptr all =
        read(R"({"type":"integer","allOf":[{"minimum":2},{"maximum":5}],"not":{"enum":[3]}})");
    EXPECT_THAT(problems(all, "4"), IsEmpty());
    EXPECT_THAT(
        problems(all, "6"),
        ElementsAre("spec: Invalid value: 6: spec in body should be less than or equal to 5",
                    "<nil>: Invalid value: \"\": \"spec\" must validate all the schemas "
                    "(allOf)"));
    EXPECT_THAT(problems(all, "3"),
                ElementsAre("<nil>: Invalid value: \"\": \"spec\" must not validate the schema "
                            "(not)"));
}

TEST(SchemaConstraint, LimitsOfNumbers) {
    const Schema::Ptr multiple = read(R"({"type":"integer","multipleOf":3})");
    EXPECT_THAT(problems(multiple, "9"), IsEmpty());
    EXPECT_THAT(problems(multiple, "10"),
                ElementsAre("spec: Invalid value: 10: spec in body should be a multiple of 3"));
    const Schema::Ptr fraction = read(
        R"({"type":"number","minimum":0.5,"maximum":2,"exclusiveMaximum":true,"multipleOf":0.25})");
    EXPECT_THAT(problems(fraction, "0.75"), IsEmpty());
    EXPECT_THAT(
        problems(fraction, "0.25"),
        ElementsAre(
            "spec: Invalid value: 0.25: spec in body should be greater than or equal to 0.5"));
    EXPECT_THAT(problems(fraction, "2.0"),
                ElementsAre("spec: Invalid value: 2: spec in body should be less than 2"));
    const Schema::Ptr choices = read(R"({"type":"integer","enum":[1,2]})");
    EXPECT_THAT(problems(choices, "2"), IsEmpty());
    EXPECT_THAT(problems(choices, "3"),
                ElementsAre("spec: Unsupported value: 3: supported values: \"1\", \"2\""));
}

TEST(SchemaConstraint, IsWrittenAsItWasRead) {
    for (const char* text :
         {kOne, R"({"type":"number","minimum":0.5,"multipleOf":2})",
          R"({"type":"integer","maximum":3,"exclusiveMaximum":true,"enum":[1,2]})",
          R"({"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]})"})
        EXPECT_EQ(read(text)->property("spec")->to_openapi(), json::parse(text)) << text;
}

TEST(SchemaConstraint, ManyAlternativesForManyElementsEnd) {
    std::string alternatives;
    for (int i = 0; i < 1000; ++i)
        alternatives += R"({"pattern":"^x)" + std::to_string(i) + R"($"},)";
    alternatives += R"({"pattern":"^a$"})";
    const Schema::Ptr schema =
        read(R"({"type":"array","items":{"type":"string","anyOf":[)" + alternatives + "]}}");
    std::string elements = R"("a")";
    for (int i = 0; i < 5000; ++i) elements += R"(,"a")";
    EXPECT_THAT(problems(schema, "[" + elements + "]"),
                ::testing::Contains(::testing::HasSubstr("take too long")));
}

TEST(ValidateChange, WhatIsUnchangedMayBeWrong) {
    const Schema::Ptr schema = read(
        R"({"type":"object","properties":{"a":{"type":"string","maxLength":2},
            "b":{"type":"integer","maximum":3}},"required":["c"]})");
    EXPECT_THAT(problems_of_change(schema, R"({"a":"long","b":1})", R"({"a":"long","b":2})"),
                ElementsAre("spec.c: Required value"));
    EXPECT_THAT(problems_of_change(schema, R"({"a":"long"})", R"({"a":"long"})"), IsEmpty());
    EXPECT_THAT(problems_of_change(schema, R"({"c":1,"a":"long"})", R"({"c":1,"a":"other"})"),
                ElementsAre("spec.a: Too long: may not be more than 2 bytes"));
}

TEST(ValidateChange, ElementsAreMatchedByTheirKeysAlone) {
    const std::string items = R"("items":{"type":"object","required":["n"],
        "properties":{"n":{"type":"string"},"v":{"type":"integer","maximum":3}}})";
    const Schema::Ptr keyed = read(R"({"type":"array","x-kubernetes-list-type":"map",
        "x-kubernetes-list-map-keys":["n"],)" +
                                   items + "}");
    const std::string before = R"([{"n":"a","v":9}])";
    const std::string after = R"([{"n":"b","v":1},{"n":"a","v":9}])";
    EXPECT_THAT(problems_of_change(keyed, before, after), IsEmpty());
    const Schema::Ptr atomic = read(R"({"type":"array",)" + items + "}");
    EXPECT_THAT(problems_of_change(atomic, before, before), IsEmpty());
    EXPECT_THAT(problems_of_change(atomic, before, after),
                ElementsAre(::testing::StartsWith("spec[1].v: Invalid value: 9")));
}

TEST(ValidateChange, RepeatedKeysMayStayIfThereWereSome) {
    const Schema::Ptr schema =
        read(R"({"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}})");
    EXPECT_THAT(problems_of_change(schema, R"(["a","a"])", R"(["a","b","b"])"), IsEmpty());
    EXPECT_THAT(problems_of_change(schema, R"(["a"])", R"(["a","b","b"])"),
                ElementsAre("spec[2]: Duplicate value: \"b\""));
}

TEST(ValidateChange, ManyOldCausesHideNoNewOne) {
    const Schema::Ptr schema = read(R"({"type":"object","properties":{
        "old":{"type":"array","items":{"type":"integer","maximum":3}},
        "recent":{"type":"integer","maximum":3}}})");
    std::string old = "9";
    for (int i = 0; i < 200; ++i) old += ",9";
    EXPECT_THAT(problems_of_change(schema, R"({"old":[)" + old + R"(],"recent":1})",
                                   R"({"old":[)" + old + R"(],"recent":9})"),
                UnorderedElementsAre(::testing::StartsWith("spec.recent: Invalid value: 9")));
}

}  // namespace
}  // namespace muster::kube::schema_constraint_test
