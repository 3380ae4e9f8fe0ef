#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "kube/schema/schema.h"

namespace muster::kube::schema_validate_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

json::value J(std::string_view text) { return json::parse(text); }

Schema::Ptr schema(std::string_view openapi) {
    auto [made, causes] = Schema::from_openapi(J(openapi), "");
    for (const Cause& cause : causes) ADD_FAILURE() << cause.field << ": " << cause.message;
    return made;
}

/// A schema of an object with one field `x`.
Schema::Ptr with_x(std::string_view x) {
    return schema(R"({"type":"object","properties":{"x":)" + std::string(x) + "}}");
}

std::vector<std::string> lines(const std::vector<Cause>& causes) {
    std::vector<std::string> out;
    out.reserve(causes.size());
    for (const Cause& cause : causes)
        out.push_back(cause.reason + " | " + cause.field + " | " + cause.message);
    return out;
}

struct Case {
    std::string name;
    std::string schema;  ///< of the field x
    std::string value;   ///< of the field x
    std::vector<std::string> problems;
};

class ValidateTest : public ::testing::TestWithParam<Case> {};

TEST_P(ValidateTest, FindsAllProblems) {
    const Case& row = GetParam();
    const json::value value = J("{\"x\":" + row.value + "}");
    EXPECT_EQ(lines(validate(*with_x(row.schema), value)), row.problems);
}

std::string type_problem(std::string_view wanted, std::string_view found) {
    return "FieldValueTypeInvalid | x | Invalid value: \"" + std::string(found) +
           "\": x in body must be of type " + std::string(wanted) + ": \"" + std::string(found) +
           "\"";
}
std::string value_problem(std::string_view value, std::string_view what) {
    return "FieldValueInvalid | x | Invalid value: " + std::string(value) + ": x in body " +
           std::string(what);
}

INSTANTIATE_TEST_SUITE_P(
    Types, ValidateTest,
    ::testing::Values(
        Case{"string", R"({"type":"string"})", R"("a")", {}},
        Case{"string_is_no_number",
             R"({"type":"string"})",
             "1",
             {type_problem("string", "integer") + " (put it in quotes: \"1\")"}},
        Case{"string_is_no_bool",
             R"({"type":"string"})",
             "true",
             {type_problem("string", "boolean") + " (put it in quotes: \"true\")"}},
        Case{"integer", R"({"type":"integer"})", "-5", {}},
        Case{"whole_float_is_an_integer", R"({"type":"integer"})", "3.0", {}},
        Case{"whole_float_is_a_port", R"({"x-kubernetes-int-or-string":true})", "3e3", {}},
        Case{"too_large_float_is_no_integer",
             R"({"type":"integer"})",
             "1e30",
             {type_problem("integer", "number")}},
        Case{"embedded",
             R"({"type":"object","x-kubernetes-embedded-resource":true})",
             R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"Any Name","namespace":"n"}})",
             {}},
        Case{"embedded_without_type",
             R"({"type":"object","x-kubernetes-embedded-resource":true})",
             R"({"kind":""})",
             {"FieldValueRequired | x.apiVersion | Required value: must not be empty",
              "FieldValueInvalid | x.kind | Invalid value: \"\": must not be empty"}},
        Case{"embedded_with_two_slashes",
             R"({"type":"object","x-kubernetes-embedded-resource":true})",
             R"({"apiVersion":"a/b/c","kind":"Pod"})",
             {"FieldValueInvalid | x.apiVersion | Invalid value: \"a/b/c\": unexpected "
              "GroupVersion string: a/b/c"}},
        Case{"fraction_is_no_integer",
             R"({"type":"integer"})",
             "3.5",
             {type_problem("integer", "number")}},
        Case{"string_is_no_integer",
             R"({"type":"integer"})",
             R"("3")",
             {type_problem("integer", "string")}},
        Case{"number", R"({"type":"number"})", "3.5", {}},
        Case{"number_takes_integer", R"({"type":"number"})", "3", {}},
        Case{"number_is_no_string",
             R"({"type":"number"})",
             R"("3")",
             {type_problem("number", "string")}},
        Case{"boolean", R"({"type":"boolean"})", "false", {}},
        Case{"boolean_is_no_string",
             R"({"type":"boolean"})",
             R"("false")",
             {type_problem("boolean", "string")}},
        Case{"array", R"({"type":"array","items":{"type":"string"}})", R"(["a"])", {}},
        Case{"array_is_no_object",
             R"({"type":"array","items":{"type":"string"}})",
             "{}",
             {type_problem("array", "object")}},
        Case{"object_is_no_array", R"({"type":"object"})", "[]", {type_problem("object", "array")}},
        Case{"int_or_string_int", R"({"x-kubernetes-int-or-string":true})", "80", {}},
        Case{"int_or_string_string", R"({"x-kubernetes-int-or-string":true})", R"("http")", {}},
        Case{"int_or_string_bool",
             R"({"x-kubernetes-int-or-string":true})",
             "true",
             {type_problem("integer,string", "boolean")}},
        Case{"int_or_string_float",
             R"({"x-kubernetes-int-or-string":true})",
             "1.5",
             {type_problem("integer,string", "number")}},
        Case{"anything", R"({"x-kubernetes-preserve-unknown-fields":true})", "[1,{}]", {}},
        Case{"null_is_absent", R"({"type":"string"})", "null", {}},
        Case{"null_where_allowed", R"({"type":"string","nullable":true})", "null", {}},
        Case{
            "null_item",
            R"({"type":"array","items":{"type":"string"}})",
            "[null]",
            {"FieldValueTypeInvalid | x[0] | Invalid value: \"null\": x[0] in body must be of type "
             "string: \"null\""}}),
    [](const auto& param_info) { return param_info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Rules, ValidateTest,
    ::testing::Values(
        Case{"enum_hit", R"({"type":"string","enum":["red","blue"]})", R"("red")", {}},
        Case{"enum_miss",
             R"({"type":"string","enum":["red","blue"]})",
             R"("green")",
             {"FieldValueNotSupported | x | Unsupported value: \"green\": supported values: "
              "\"red\", \"blue\""}},
        Case{"minimum_hit", R"({"type":"integer","minimum":0})", "0", {}},
        Case{"minimum_miss",
             R"({"type":"integer","minimum":0})",
             "-1",
             {value_problem("-1", "should be greater than or equal to 0")}},
        Case{"maximum_miss",
             R"({"type":"integer","maximum":65535})",
             "70000",
             {value_problem("70000", "should be less than or equal to 65535")}},
        Case{"maximum_of_float",
             R"({"type":"number","maximum":1})",
             "1.5",
             {value_problem("1.5", "should be less than or equal to 1")}},
        Case{"int32_max", R"({"type":"integer","format":"int32"})", "2147483647", {}},
        Case{"int32_over", R"({"type":"integer","format":"int32"})", "2147483648", {}},
        Case{"float_over", R"({"type":"number","format":"float"})", "1e39", {}},
        Case{"int64_least", R"({"type":"integer","format":"int64"})", "-9223372036854775808", {}},
        Case{"int64_over",
             R"({"type":"integer","format":"int64"})",
             "9223372036854775808",
             {type_problem("integer", "number")}},
        Case{"int64_over_or_text",
             R"({"x-kubernetes-int-or-string":true})",
             "9223372036854775808",
             {type_problem("integer,string", "number")}},
        Case{"exact_double", R"({"type":"integer"})", "9007199254740991.0", {}},
        Case{"inexact_double",
             R"({"type":"integer"})",
             "9007199254740992.0",
             {type_problem("integer", "number")}},
        Case{"int64_huge_float",
             R"({"type":"integer"})",
             "1e300",
             {type_problem("integer", "number")}},
        Case{"max_length_counts_characters", R"({"type":"string","maxLength":2})", R"("äö")", {}},
        Case{"max_length_miss",
             R"({"type":"string","maxLength":2})",
             R"("abc")",
             {"FieldValueTooLong | x | Too long: may not be more than 2 bytes"}},
        Case{"min_length_miss",
             R"({"type":"string","minLength":1})",
             R"("")",
             {value_problem("\"\"", "should be at least 1 chars long")}},
        Case{"max_items_miss",
             R"({"type":"array","items":{"type":"integer"},"maxItems":1})",
             "[1,2]",
             {"FieldValueTooMany | x | Too many: 2: must have at most 1 items"}},
        Case{"min_items_miss",
             R"({"type":"array","items":{"type":"integer"},"minItems":1})",
             "[]",
             {value_problem("0", "should have at least 1 items")}},
        Case{"pattern_is_unanchored", R"({"type":"string","pattern":"b+"})", R"("abbc")", {}},
        Case{"pattern_miss",
             R"({"type":"string","pattern":"^b+$"})",
             R"("abbc")",
             {value_problem("\"abbc\"", "should match '^b+$'")}},
        Case{"date_time",
             R"({"type":"string","format":"date-time"})",
             R"("2026-01-02T03:04:05Z")",
             {}},
        Case{"date_time_miss",
             R"({"type":"string","format":"date-time"})",
             R"("yesterday")",
             {value_problem("\"yesterday\"",
                            "must be of type date-time, such as 2026-01-02T03:04:05Z")}},
        Case{"byte", R"({"type":"string","format":"byte"})", R"("aGVsbG8=")", {}},
        Case{"byte_miss",
             R"({"type":"string","format":"byte"})",
             R"("hello")",
             {value_problem("\"hello\"", "must be of type byte")}},
        Case{"uuid_miss",
             R"({"type":"string","format":"uuid"})",
             R"("1")",
             {value_problem("\"1\"", "must be of type uuid")}},
        Case{"unknown_format", R"({"type":"string","format":"colour"})", R"("red")", {}},
        Case{"list_set",
             R"({"type":"array","x-kubernetes-list-type":"set",
                             "items":{"type":"string"}})",
             R"(["a","b","a"])",
             {"FieldValueDuplicate | x[2] | Duplicate value: \"a\""}},
        Case{"list_map",
             R"({"type":"array","x-kubernetes-list-type":"map",
                             "x-kubernetes-list-map-keys":["name"],
                             "items":{"type":"object","required":["name"],
                                      "properties":{"name":{"type":"string"}}}})",
             R"([{"name":"a"},{"name":"a"}])",
             {"FieldValueDuplicate | x[1] | Duplicate value: {\"name\":\"a\"}"}},
        Case{"list_map_with_a_default_key",
             R"({"type":"array","x-kubernetes-list-type":"map",
                 "x-kubernetes-list-map-keys":["port","protocol"],
                 "items":{"type":"object","required":["port"],
                          "properties":{"port":{"type":"integer"},
                                        "protocol":{"type":"string","default":"TCP"}}}})",
             R"([{"port":1},{"port":1,"protocol":"UDP"},{"port":1,"protocol":"TCP"}])",
             {"FieldValueDuplicate | x[2] | Duplicate value: {\"port\":1,\"protocol\":\"TCP\"}"}},
        Case{"required",
             R"({"type":"object","required":["a","b"],
                             "properties":{"a":{"type":"string"},"b":{"type":"string"}}})",
             R"({"a":null})",
             {"FieldValueRequired | x.a | Required value",
              "FieldValueRequired | x.b | Required value"}},
        Case{
            "every_problem_of_a_tree",
            R"({"type":"object","additionalProperties":{"type":"array","items":{"type":"integer"}}})",
            R"({"a":[1,"2"],"b/c":[true],"d":3})",
            {"FieldValueTypeInvalid | x.a[1] | Invalid value: \"string\": x.a[1] in body must be "
             "of "
             "type integer: \"string\"",
             "FieldValueTypeInvalid | x[b/c][0] | Invalid value: \"boolean\": x[b/c][0] in body "
             "must be of type integer: \"boolean\"",
             "FieldValueTypeInvalid | x.d | Invalid value: \"integer\": x.d in body must be of "
             "type array: \"integer\""}}),
    [](const auto& param_info) { return param_info.param.name; });

TEST(Validate, TheRootIsTheBody) {
    EXPECT_THAT(
        lines(validate(*with_x(R"({"type":"string"})"), json::value(1))),
        ElementsAre("FieldValueTypeInvalid |  | Invalid value: \"integer\": body must be of "
                    "type object: \"integer\""));
}

TEST(Validate, NumbersOutsideJson) {
    for (double value :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        for (const char* type : {"integer", "number"}) {
            const json::value object = {{"x", value}};
            auto problems = validate(*with_x("{\"type\":\"" + std::string(type) + "\"}"), object);
            ASSERT_EQ(problems.size(), 1u);
            EXPECT_EQ(problems[0].field, "x");
            EXPECT_THAT(problems[0].message, ::testing::HasSubstr("must be a finite number"));
        }
    }
}

/// `depth` arrays in each other, freed level by level: the destructor of a JSON value recurses.
class Nested {
  public:
    explicit Nested(std::size_t depth) {
        for (std::size_t i = 1; i < depth; ++i) {
            json::array outer;
            outer.emplace_back(std::move(value));
            value = std::move(outer);
        }
    }
    ~Nested() {
        while (value.is_array() && !value.get_array().empty()) {
            json::value inner = std::move(value.get_array().front());
            value = std::move(inner);
        }
    }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

    json::value value = json::array();
};

TEST(Validate, DeepValuesAreOneCause) {
    const Schema anything;
    EXPECT_THAT(validate(anything, Nested(200).value), IsEmpty());
    for (std::size_t depth : {201u, 20'000u}) {
        Nested nested(depth);
        EXPECT_THAT(lines(validate(anything, nested.value, "spec")),
                    ElementsAre("FieldValueInvalid | spec | Invalid value: nested deeper than 200 "
                                "levels"));
    }
}

TEST(Validate, LongValuesAreCutInMessages) {
    const json::value value = {{"x", std::string(10'000, 'y')}};
    auto problems = validate(*with_x(R"({"type":"string","enum":["a"]})"), value);
    ASSERT_EQ(problems.size(), 1u);
    EXPECT_LT(problems[0].message.size(), 300u);
}

TEST(Validate, APatternThatExplodesDoesNotMatchInsteadOfHanging) {
    const json::value value = {{"x", std::string(200, 'a') + "b"}};
    auto problems = validate(*with_x(R"({"type":"string","pattern":"^(a+)+$"})"), value);
    EXPECT_EQ(problems.size(), 1u);
}

TEST(Validate, LongProgramsAreComparedWithSoMuchTextOnly) {
    const auto schema =
        with_x(R"({"type":"array","items":{"type":"string","pattern":"^[ab]*a[ab]{900}$"}})");
    const auto problems_of = [&](std::size_t texts) {
        const json::array list(texts, json::value(std::string(2000, 'b')));
        const json::value value = {{"x", list}};
        return validate(*schema, value);
    };
    for (const Cause& each : problems_of(5))
        EXPECT_THAT(each.message, ::testing::HasSubstr("should match"));
    const std::vector<Cause> many = problems_of(99);
    ASSERT_EQ(many.size(), 99u);
    EXPECT_THAT(many.front().message, ::testing::HasSubstr("should match"));
    EXPECT_THAT(many.back().message, ::testing::HasSubstr("was not compared"));
}

TEST(Validate, ShortProgramsAreComparedWithAnyText) {
    const json::value value = {{"x", json::array(2000, json::value(std::string(200, 'a') + "b"))}};
    const auto problems = validate(
        *with_x(R"({"type":"array","items":{"type":"string","pattern":"^(a+)+$"}})"), value);
    ASSERT_EQ(problems.size(), 100u);
    for (const Cause& each : problems)
        EXPECT_THAT(each.message, ::testing::HasSubstr("should match"));
}

TEST(Validate, ALongTextCostsAPatternInProportion) {
    // Each start of the search would read all of the rest.
    const json::value value = {{"x", std::string(1'000'000, 'a')}};
    EXPECT_EQ(validate(*with_x(R"({"type":"string","pattern":"[a-z]*[0-9]"})"), value).size(), 1u);
    EXPECT_EQ(validate(*with_x(R"({"type":"string","pattern":"^[a-z]*$"})"), value).size(), 0u);
}

TEST(Validate, OfManyProblemsAHundredOfEachReasonAreTold) {
    const auto known = schema(R"({"type":"object","properties":{
        "list":{"type":"array","items":{"type":"integer"}},
        "enums":{"type":"array","items":{"type":"string","enum":["a"]}},
        "metadata":{"type":"object","properties":{"ownerReferences":{"type":"array",
            "items":{"type":"object","required":["uid"]}}}},
        "things":{"type":"array","items":{"type":"object","required":["n"]}}}})");
    const auto many = [](const json::value& value) { return json::array(5000, value); };
    const json::value value = {{"list", many("text")},
                               {"enums", many("b")},
                               {"metadata", {{"ownerReferences", many(json::object())}}},
                               {"things", many(json::object())}};
    std::map<std::string, int> told;
    for (const Cause& cause : validate(*known, value))
        ++told[cause.reason + " " + cause.field.substr(0, cause.field.find('['))];
    EXPECT_EQ(told,
              (std::map<std::string, int>{{"FieldValueTypeInvalid list", 100},
                                          {"FieldValueNotSupported enums", 100},
                                          {"FieldValueRequired metadata.ownerReferences", 100},
                                          {"FieldValueRequired things", 100}}));
}

TEST(Prune, RemovesZeroValuesThatMeanAbsence) {
    const Schema::Ptr pod = core_schema("Pod");
    json::value value = J(R"({
        "metadata":{"name":"a","labels":{},"finalizers":[],"annotations":{"kept":""}},
        "spec":{"hostNetwork":false,"hostname":"","activeDeadlineSeconds":0,"volumes":[],
            "securityContext":{},"terminationGracePeriodSeconds":0,"automountServiceAccountToken":false,
            "containers":[{"name":"","image":"","stdin":false,"resources":{"limits":{}},
                "env":[{"name":"e","value":""}],"ports":[{"containerPort":0,"protocol":""}]}]}})");
    EXPECT_TRUE(inspect(*pod, value).absent_fields);
    prune(*pod, value);
    EXPECT_EQ(value, J(R"({
        "metadata":{"name":"a","annotations":{"kept":""}},
        "spec":{"activeDeadlineSeconds":0,"securityContext":{},"terminationGracePeriodSeconds":0,
            "automountServiceAccountToken":false,
            "containers":[{"name":"","resources":{},"env":[{"name":"e"}],
                "ports":[{"containerPort":0}]}]}})"));
    EXPECT_FALSE(inspect(*pod, value).absent_fields);
}

TEST(Prune, MakesIntegersOfWholeNumbers) {
    const auto known = schema(R"({"type":"object","properties":{"n":{"type":"integer"},
        "p":{"x-kubernetes-int-or-string":true},"f":{"type":"number"}}})");
    json::value value = J(R"({"n":2.0,"p":1e3,"f":2.0})");
    EXPECT_TRUE(inspect(*known, value).absent_fields);
    prune(*known, value);
    EXPECT_TRUE(value.at("n").is_int64() && value.at("p").is_int64() && value.at("f").is_double());
    EXPECT_FALSE(inspect(*known, value).absent_fields);
}

TEST(FindNulls, TellsThoseThatTheSchemaDoesNotAllow) {
    const auto known = schema(R"({"type":"object","properties":{
        "a":{"type":"object","additionalProperties":{"type":"string"}},
        "b":{"type":"array","nullable":true,"items":{"type":"string"}},
        "any":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}})");
    EXPECT_TRUE(find_nulls(*known, J(R"({"b":null,"any":{"x":null}})")).empty());
    EXPECT_EQ(lines(find_nulls(*known, J(R"({"a":null,"any":null})"))),
              (std::vector<std::string>{
                  "FieldValueTypeInvalid | a | Invalid value: \"null\": a in body must be of type "
                  "object: \"null\"",
                  "FieldValueTypeInvalid | any | Invalid value: \"null\": any in body must be of "
                  "type object: \"null\""}));
}

TEST(Inspect, FindsInOneWalkWhatTheOthersFind) {
    const auto known = schema(R"({"type":"object","properties":{
        "kept":{"type":"string","nullable":true},
        "open":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
        "list":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}}}},
        "map":{"type":"object","additionalProperties":{"type":"object",
               "properties":{"text":{"type":"string"}}}}}})");
    struct Row {
        std::string_view value;
        bool unknown, nulls, wrong;
    };
    for (const Row& row : {
             Row{R"({})", false, false, false},
             Row{R"({"kept":null,"open":{"any":null},"list":[{"n":1}]})", false, false, false},
             Row{R"({"typo":1})", true, false, false},
             Row{R"({"list":[{"n":1},{"m":1}]})", true, false, false},
             Row{R"({"map":{"a":{"text":"b","c":null}}})", true, false, false},
             Row{R"({"list":null})", false, true, false},
             Row{R"({"list":[{"n":null}]})", false, true, false},
             Row{R"({"map":{"a":{"text":1}}})", false, false, true},
             Row{R"({"map":{"a":null},"list":[{"n":"1"}],"typo":true})", true, true, true},
         }) {
        SCOPED_TRACE(row.value);
        const json::value value = J(row.value);
        const Inspection found = inspect(*known, value);
        EXPECT_EQ(found.unknown_fields, row.unknown);
        EXPECT_EQ(found.absent_fields, row.nulls);
        EXPECT_EQ(!found.causes.empty(), row.wrong);
        EXPECT_EQ(lines(found.causes), lines(validate(*known, value)));
        EXPECT_EQ(found.unknown_fields, !find_unknown(*known, value).empty());
        json::value pruned = value;
        prune(*known, pruned);
        EXPECT_EQ(found.unknown_fields || found.absent_fields, pruned != value);
    }
}

TEST(InspectTest, LeavesWhatAStructLacksToItsRules) {
    const auto missing = [](const char* kind, const json::value& value) {
        return lines(inspect(*core_schema(kind), value, {}, core_schema("PodSpec").get()).causes);
    };
    EXPECT_THAT(missing("Pod", J(R"({"spec":{"containers":[{}],"tolerations":[{}],
                    "topologySpreadConstraints":[{}]}})")),
                IsEmpty());
    // What is around it lacks what it lacks.
    EXPECT_THAT(missing("Deployment", J(R"({"metadata":{"ownerReferences":[{"kind":"K","name":"n",
                    "apiVersion":"v1"}]},"spec":{"template":{"spec":{"containers":[{}]}}}})")),
                ElementsAre("FieldValueRequired | metadata.ownerReferences[0].uid | Required value",
                            "FieldValueRequired | spec.selector | Required value"));
    EXPECT_THAT(missing("Pod", J(R"({"spec":{"containers":[{"name":1}]}})")),
                ElementsAre(::testing::HasSubstr("must be of type string")));
}

}  // namespace
}  // namespace muster::kube::schema_validate_test
