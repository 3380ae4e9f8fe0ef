#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "kube/patch/patch.h"

namespace muster::kube::json_patch_test {
namespace {

using testing::HasSubstr;

struct Row {
    const char* name;
    const char* target;
    const char* patch;
    const char* result;
};

// RFC 6902 appendix A, and the json-patch-tests corpus.
TEST(JsonPatch, Applies) {
    constexpr Row kRows[] = {
        {"A.1 adding an object member", R"({"foo":"bar"})",
         R"([{"op":"add","path":"/baz","value":"qux"}])", R"({"baz":"qux","foo":"bar"})"},
        {"A.2 adding an array element", R"({"foo":["bar","baz"]})",
         R"([{"op":"add","path":"/foo/1","value":"qux"}])", R"({"foo":["bar","qux","baz"]})"},
        {"A.3 removing an object member", R"({"baz":"qux","foo":"bar"})",
         R"([{"op":"remove","path":"/baz"}])", R"({"foo":"bar"})"},
        {"A.4 removing an array element", R"({"foo":["bar","qux","baz"]})",
         R"([{"op":"remove","path":"/foo/1"}])", R"({"foo":["bar","baz"]})"},
        {"A.5 replacing a value", R"({"baz":"qux","foo":"bar"})",
         R"([{"op":"replace","path":"/baz","value":"boo"}])", R"({"baz":"boo","foo":"bar"})"},
        {"A.6 moving a value", R"({"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}})",
         R"([{"op":"move","from":"/foo/waldo","path":"/qux/thud"}])",
         R"({"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}})"},
        {"A.7 moving an array element", R"({"foo":["all","grass","cows","eat"]})",
         R"([{"op":"move","from":"/foo/1","path":"/foo/3"}])",
         R"({"foo":["all","cows","eat","grass"]})"},
        {"A.8 testing a value: success", R"({"baz":"qux","foo":["a",2,"c"]})",
         R"([{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}])",
         R"({"baz":"qux","foo":["a",2,"c"]})"},
        {"A.10 adding a nested member object", R"({"foo":"bar"})",
         R"([{"op":"add","path":"/child","value":{"grandchild":{}}}])",
         R"({"foo":"bar","child":{"grandchild":{}}})"},
        {"A.11 ignoring unrecognized elements", R"({"foo":"bar"})",
         R"([{"op":"add","path":"/baz","value":"qux","xyz":123}])", R"({"foo":"bar","baz":"qux"})"},
        {"A.14 escape ordering", R"({"/":9,"~1":10})",
         R"([{"op":"test","path":"/~01","value":10}])", R"({"/":9,"~1":10})"},
        {"A.16 adding an array value", R"({"foo":["bar"]})",
         R"([{"op":"add","path":"/foo/-","value":["abc","def"]}])",
         R"({"foo":["bar",["abc","def"]]})"},
        {"empty list, empty docs", "{}", "[]", "{}"},
        {"toplevel array", "[]", R"([{"op":"add","path":"/0","value":"foo"}])", R"(["foo"])"},
        {"add replaces any existing field", R"({"foo":null})",
         R"([{"op":"add","path":"/foo","value":1}])", R"({"foo":1})"},
        {"replace whole document", R"({"foo":"bar"})",
         R"([{"op":"replace","path":"","value":{"baz":"qux"}}])", R"({"baz":"qux"})"},
        {"add whole document", R"({"foo":"bar"})", R"([{"op":"add","path":"","value":[1]}])",
         "[1]"},
        {"add to the end by index", R"({"a":[1,2]})", R"([{"op":"add","path":"/a/2","value":3}])",
         R"({"a":[1,2,3]})"},
        {"the empty key", R"({"":1})", R"([{"op":"replace","path":"/","value":2}])", R"({"":2})"},
        {"keys with slash and tilde", R"({"a/b":{"m~n":1}})",
         R"([{"op":"replace","path":"/a~1b/m~0n","value":2}])", R"({"a/b":{"m~n":2}})"},
        {"a number as an object's key", R"({"a":{"0":1}})", R"([{"op":"remove","path":"/a/0"}])",
         R"({"a":{}})"},
        {"'-' as an object's key", R"({"a":{}})", R"([{"op":"add","path":"/a/-","value":1}])",
         R"({"a":{"-":1}})"},
        {"null value is a value", "{}", R"([{"op":"add","path":"/a","value":null}])",
         R"({"a":null})"},
        {"test null", R"({"a":null})", R"([{"op":"test","path":"/a","value":null}])",
         R"({"a":null})"},
        {"replace a member that is absent", R"({"a":1})",
         R"([{"op":"replace","path":"/b","value":2}])", R"({"a":1,"b":2})"},
        {"test an absent member against null", R"({"a":1})",
         R"([{"op":"test","path":"/b","value":null}])", R"({"a":1})"},
        {"copy an absent member", R"({"a":1})", R"([{"op":"copy","from":"/b","path":"/a"}])",
         R"({"a":null})"},
        {"replace an array element", R"({"a":[1,2,3]})",
         R"([{"op":"replace","path":"/a/1","value":[9]}])", R"({"a":[1,[9],3]})"},
        {"replace the last array element", R"({"a":[1]})",
         R"([{"op":"replace","path":"/a/0","value":2}])", R"({"a":[2]})"},
        {"move to the same place", R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])",
         R"({"a":1})"},
        {"move to a name that begins alike", R"({"a":1})",
         R"([{"op":"move","from":"/a","path":"/ab"}])", R"({"ab":1})"},
        {"move a child over its parent", R"({"a":{"b":{"c":1}}})",
         R"([{"op":"move","from":"/a/b","path":"/a"}])", R"({"a":{"c":1}})"},
        {"copy", R"({"a":{"b":[1]}})",
         R"([{"op":"copy","from":"/a","path":"/c"},{"op":"add","path":"/c/b/-","value":2}])",
         R"({"a":{"b":[1]},"c":{"b":[1,2]}})"},
        {"copy into its own child", R"({"a":{"b":1}})",
         R"([{"op":"copy","from":"/a","path":"/a/c"}])", R"({"a":{"b":1,"c":{"b":1}}})"},
        {"test: numbers are equal by value", R"({"a":1})",
         R"([{"op":"test","path":"/a","value":1.0}])", R"({"a":1})"},
        {"test: the order of members does not count", R"({"a":{"b":1,"c":[{"d":2}]}})",
         R"([{"op":"test","path":"/a","value":{"c":[{"d":2.0}],"b":1}}])",
         R"({"a":{"b":1,"c":[{"d":2}]}})"},
    };
    for (const Row& row : kRows) {
        Result<json::value> result =
            apply_json_patch(json::parse(row.target), json::parse(row.patch));
        ASSERT_TRUE(result) << row.name << ": " << result.error().message();
        EXPECT_EQ(*result, json::parse(row.result)) << row.name << ": " << json::serialize(*result);
    }
}

struct BadRow {
    const char* name;
    const char* target;
    const char* patch;
    Code code;
    const char* message;
};

TEST(JsonPatch, Refuses) {
    constexpr BadRow kRows[] = {
        {"A.9 testing a value: error", R"({"baz":"qux"})",
         R"([{"op":"test","path":"/baz","value":"bar"}])", Code::kInvalid,
         "operation 0 (test \"/baz\"): the value there is \"qux\""},
        {"A.12 adding to a nonexistent target", R"({"foo":"bar"})",
         R"([{"op":"add","path":"/baz/bat","value":"qux"}])", Code::kInvalid, "path's parent"},
        {"A.15 comparing strings and numbers", R"({"/":9,"~1":10})",
         R"([{"op":"test","path":"/~01","value":"10"}])", Code::kInvalid, "the value there is 10"},
        {"the second operation fails", R"({"a":1})",
         R"([{"op":"remove","path":"/a"},{"op":"remove","path":"/a"}])", Code::kInvalid,
         "operation 1 (remove \"/a\"): there is nothing at the path"},
        {"add below a scalar", R"({"a":1})", R"([{"op":"add","path":"/a/b","value":1}])",
         Code::kInvalid, "parent"},
        {"index beyond the end", R"({"a":[1]})", R"([{"op":"add","path":"/a/2","value":1}])",
         Code::kInvalid, "not a position in a list of 1 items"},
        {"index with a leading zero", R"({"a":[1]})", R"([{"op":"add","path":"/a/00","value":1}])",
         Code::kInvalid, "not a position"},
        {"negative index", R"({"a":[1]})", R"([{"op":"add","path":"/a/-1","value":1}])",
         Code::kInvalid, "not a position"},
        {"index with letters", R"({"a":[1]})", R"([{"op":"add","path":"/a/1e0","value":1}])",
         Code::kInvalid, "not a position"},
        {"index beyond any number", R"({"a":[1]})",
         R"([{"op":"remove","path":"/a/99999999999999999999999"}])", Code::kInvalid, "nothing"},
        {"remove '-'", R"({"a":[1]})", R"([{"op":"remove","path":"/a/-"}])", Code::kInvalid,
         "nothing"},
        {"replace '-'", R"({"a":[1]})", R"([{"op":"replace","path":"/a/-","value":1}])",
         Code::kInvalid, "nothing"},
        {"test '-'", R"({"a":[1]})", R"([{"op":"test","path":"/a/-","value":1}])", Code::kInvalid,
         "nothing"},
        {"replace an item that is missing", "[]", R"([{"op":"replace","path":"/0","value":1}])",
         Code::kInvalid, "nothing at the path"},
        {"replace below what is missing", "{}", R"([{"op":"replace","path":"/a/b","value":1}])",
         Code::kInvalid, "path's parent"},
        {"test what is missing against a value", "{}", R"([{"op":"test","path":"/a","value":1}])",
         Code::kInvalid, "nothing at the path"},
        {"test an item that is missing", "[]", R"([{"op":"test","path":"/0","value":null}])",
         Code::kInvalid, "nothing at the path"},
        {"test null against false", R"({"a":null})", R"([{"op":"test","path":"/a","value":false}])",
         Code::kInvalid, "the value there is null"},
        {"test a shorter list", R"({"a":[1,2]})", R"([{"op":"test","path":"/a","value":[1]}])",
         Code::kInvalid, "the value there is [1,2]"},
        {"remove the document", "{}", R"([{"op":"remove","path":""}])", Code::kInvalid,
         "whole document"},
        {"move into own child", R"({"a":{"b":{}}})",
         R"([{"op":"move","from":"/a","path":"/a/b/c"}])", Code::kInvalid, "into itself"},
        {"move the document into a child", R"({"a":{}})",
         R"([{"op":"move","from":"","path":"/a/b"}])", Code::kInvalid, "into itself"},
        {"move what is missing onto itself", "{}", R"([{"op":"move","from":"/a","path":"/a"}])",
         Code::kInvalid, "nothing at \"from\""},
        {"copy an item that is missing", "[]", R"([{"op":"copy","from":"/0","path":"/-"}])",
         Code::kInvalid, "nothing at \"from\""},
        {"copy below what is missing", "{}", R"([{"op":"copy","from":"/a/b","path":"/b"}])",
         Code::kInvalid, "nothing at \"from\""},
        {"A.13 not a list", "{}", R"({"op":"add","path":"/a","value":1})", Code::kBadRequest,
         "must be a list"},
        {"not an object", "{}", R"([1])", Code::kBadRequest, "operation 0: must be an object"},
        {"no op", "{}", R"([{"path":"/a","value":1}])", Code::kBadRequest, "\"op\" must be there"},
        {"unknown op", "{}", R"([{"op":"spam","path":"/a","value":1}])", Code::kInvalid,
         "unknown operation \"spam\""},
        {"no path", "{}", R"([{"op":"add","value":1}])", Code::kBadRequest,
         "\"path\" must be there"},
        {"path of a wrong type", "{}", R"([{"op":"add","path":null,"value":1}])", Code::kBadRequest,
         "\"path\" must be there"},
        {"no value", "{}", R"([{"op":"add","path":"/a"}])", Code::kBadRequest,
         "\"value\" is missing"},
        {"no from", R"({"a":1})", R"([{"op":"move","path":"/a"}])", Code::kBadRequest,
         "\"from\" must be there"},
        {"pointer without a slash", R"({"a":1})", R"([{"op":"remove","path":"a"}])",
         Code::kBadRequest, "not a JSON pointer"},
        {"bad escape", R"({"a":1})", R"([{"op":"remove","path":"/~2"}])", Code::kBadRequest,
         "not a JSON pointer"},
        {"unfinished escape", R"({"a":1})", R"([{"op":"remove","path":"/a~"}])", Code::kBadRequest,
         "not a JSON pointer"},
    };
    for (const BadRow& row : kRows) {
        const json::value target = json::parse(row.target);
        Result<json::value> result = apply_json_patch(target, json::parse(row.patch));
        ASSERT_FALSE(result) << row.name;
        EXPECT_EQ(result.error().code(), row.code) << row.name;
        EXPECT_THAT(result.error().message(), HasSubstr(row.message)) << row.name;
        EXPECT_EQ(target, json::parse(row.target)) << row.name;
    }
}

TEST(JsonPatch, IsBounded) {
    json::array many;
    for (int i = 0; i < 10'001; ++i)
        many.push_back({{"op", "test"}, {"path", ""}, {"value", nullptr}});
    EXPECT_EQ(apply_json_patch(nullptr, many).error().code(), Code::kTooLarge);
    many.pop_back();
    EXPECT_TRUE(apply_json_patch(nullptr, many));

    // Each copy doubles the document.
    json::array doubling;
    for (int i = 0; i < 40; ++i)
        doubling.push_back({{"op", "copy"}, {"from", ""}, {"path", "/" + std::to_string(i)}});
    EXPECT_EQ(
        apply_json_patch(json::object{{"a", std::string(1000, 'x')}}, doubling).error().code(),
        Code::kTooLarge);

    json::array nesting;
    std::string path;
    for (int i = 0; i < 201; ++i) {
        path += "/a";
        nesting.push_back({{"op", "add"}, {"path", path}, {"value", json::object()}});
    }
    EXPECT_EQ(apply_json_patch(json::object(), nesting).error().code(), Code::kTooLarge);
    nesting.resize(199);
    EXPECT_TRUE(apply_json_patch(json::object(), nesting));
}

TEST(JsonPatch, KeepsTheOrderOfMembers) {
    Result<json::value> result = apply_json_patch(json::parse(R"({"a":1,"b":2,"c":3,"d":4})"),
                                                  json::parse(R"([{"op":"remove","path":"/a"}])"));
    ASSERT_TRUE(result);
    EXPECT_EQ(json::serialize(*result), R"({"b":2,"c":3,"d":4})");
}

json::object wide_object(std::size_t members) {
    json::object wide;
    for (std::size_t i = 0; i < members; ++i) wide.emplace("k" + std::to_string(i), i);
    return wide;
}

TEST(JsonPatchCost, GrowsWithTheOperationsAndNotWithWhatTheyMoveAside) {
    // Each would move all of the object's members, and did for seconds.
    const json::value target{{"m", wide_object(200'000)}};
    json::array operations;
    for (int i = 0; i < 10'000; ++i)
        operations.push_back({{"op", "move"},
                              {"from", fmt::format("/m/k{}", i)},
                              {"path", fmt::format("/m/x{}", i)}});
    const Result<json::value> moved = apply_json_patch(target, operations);
    ASSERT_TRUE(moved) << moved.error().message();
    const json::object& members = moved->at("m").as_object();
    EXPECT_EQ(members.size(), 200'000);
    EXPECT_EQ(members.at("x9999"), json::value(9'999));
    EXPECT_FALSE(members.contains("k0"));
    EXPECT_TRUE(members.contains("k10000"));
}

TEST(JsonPatchCost, SmallObjectsKeepTheirOrder) {
    const Result<json::value> removed = apply_json_patch(
        json::parse(R"({"a":1,"b":2,"c":3})"), json::parse(R"([{"op":"remove","path":"/a"}])"));
    ASSERT_TRUE(removed);
    EXPECT_EQ(json::serialize(*removed), R"({"b":2,"c":3})");
}

TEST(JsonPatchCost, OfListsThatAreMovedAboutIsLimited) {
    json::array list;
    for (int i = 0; i < 100'000; ++i) list.push_back(i);
    const json::value target{{"l", list}, {"deep", json::object{{"d", list}}}};
    const auto many = [](const char* operation) {
        json::array operations;
        for (int i = 0; i < 1'000; ++i) operations.push_back(json::parse(operation));
        return json::value(operations);
    };
    for (const char* operation :
         {R"({"op":"add","path":"/l/0","value":1})", R"({"op":"remove","path":"/l/0"})"}) {
        const Result<json::value> refused = apply_json_patch(target, many(operation));
        ASSERT_FALSE(refused) << operation;
        EXPECT_EQ(refused.error().code(), Code::kTooLarge);
        EXPECT_THAT(refused.error().message(), HasSubstr("moves more than"));
    }
    // To look how deep it is, each time.
    json::array back_and_forth;
    for (int i = 0; i < 1'000; ++i) {
        back_and_forth.push_back({{"op", "move"}, {"from", "/deep"}, {"path", "/other"}});
        back_and_forth.push_back({{"op", "move"}, {"from", "/other"}, {"path", "/deep"}});
    }
    EXPECT_EQ(apply_json_patch(target, back_and_forth).error().code(), Code::kTooLarge);
    // At the end, and in the place of others, there is nothing to move.
    EXPECT_TRUE(apply_json_patch(target, many(R"({"op":"add","path":"/l/-","value":1})")));
    EXPECT_TRUE(apply_json_patch(target, many(R"({"op":"replace","path":"/l/0","value":1})")));
}

}  // namespace
}  // namespace muster::kube::json_patch_test
