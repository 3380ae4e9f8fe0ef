#include "apiserver/objects/text_fields.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "apiserver/objects/json_access.h"
#include "base/rng.h"

namespace muster::apiserver::text_fields_test {
namespace {

TEST(TextFields, FindsTheValueAtAPath) {
    constexpr std::string_view kObject =
        R"({"a":{"b":"x","}":1,"c":[{"b":2},"]"],"d":null},"q\"":{"b":3},"b":-1.5E3,"":{"":0}})";
    struct Row {
        const char* path;
        const char* found;  ///< null: nothing
    };
    const Row kRows[] = {
        {"b", "-1.5E3"},    {"a.b", R"("x")"},  {"a.c", R"([{"b":2},"]"])"},
        {"a.d", "null"},    {"a.}", "1"},       {".", "0"},
        {"a.c.b", nullptr}, {"a.b.c", nullptr}, {"c", nullptr},
        {"a.b\"", nullptr}, {"x", nullptr},
    };
    for (const Row& row : kRows)
        EXPECT_EQ(text_at_path(kObject, row.path).value_or("nothing"),
                  std::string_view(row.found == nullptr ? "nothing" : row.found))
            << row.path;
    EXPECT_FALSE(text_at_path("{}", "a"));
}

TEST(TextFields, TellsWhetherOneOfSeveralIsThere) {
    constexpr std::string_view kObject =
        R"({"a":{"b":{"x":1},"n":null,"s":"\"x\":1","e":{},"l":[{"y":1}]},"x":1,"y":2})";
    struct Row {
        const char* path;
        std::initializer_list<std::string_view> keys;
        bool there;
    };
    const Row kRows[] = {
        {"a", {"b"}, true},       {"a", {"q", "l"}, true},   {"a.b", {"x"}, true},
        {"a", {"x", "y"}, false}, {"a.b", {"y"}, false},     {"a.e", {"x", "y"}, false},
        {"a", {"n"}, false},      {"a", {"n", "s"}, true},   {"a.l", {"y"}, false},
        {"a.s", {"x"}, false},    {"missing", {"x"}, false}, {"a", {}, false},
    };
    for (const Row& row : kRows)
        EXPECT_EQ(any_at_path(kObject, row.path, row.keys), row.there)
            << row.path << " " << (row.keys.size() > 0 ? *row.keys.begin() : "");
}

TEST(TextFields, ReadsStringsWithTheirEscapes) {
    constexpr std::string_view kObject =
        R"({"plain":"x","escaped":"a\"\\","number":1,"backslash":"\\","after":"y"})";
    EXPECT_EQ(string_at_path(kObject, "plain"), "x");
    EXPECT_EQ(string_at_path(kObject, "escaped"), "a\"\\");
    EXPECT_EQ(string_at_path(kObject, "backslash"), "\\");
    EXPECT_EQ(string_at_path(kObject, "after"), "y") << "a string may end with an escape";
    EXPECT_EQ(string_at_path(kObject, "number"), "");
    EXPECT_EQ(string_at_path(kObject, "missing"), "");
    EXPECT_EQ(string_at_path("{\"a\":\"\\n\xff\"}", "a"), "\n\xff");
}

TEST(TextFields, ReadsWhatEveryObjectHas) {
    const store::ObjectTextPtr object = store::ObjectText::read(
        R"({"metadata":{"name":"n","namespace":"s","uid":"u","deletionTimestamp":"t"}})");
    EXPECT_EQ(name_of(*object), "n");
    EXPECT_EQ(namespace_of(*object), "s");
    EXPECT_EQ(uid_of(*object), "u");
    EXPECT_TRUE(is_deleting(*object));
    EXPECT_FALSE(is_deleting(*store::ObjectText::read(R"({"metadata":{}})")));
    EXPECT_FALSE(is_deleting(*store::ObjectText::read("{}")));
}

TEST(TextFields, WalksThroughLabelsAndFinalizers) {
    const auto labels = [](std::string_view object) {
        std::vector<std::string> seen;
        each_label(object, [&](std::string_view key, std::string_view value) {
            seen.push_back(fmt::format("{}={}", key, value));
        });
        return fmt::format("{}", fmt::join(seen, " "));
    };
    constexpr std::string_view kObject =
        R"({"metadata":{"finalizers":["a/b","q\"]",1,"c"],"labels":{"a":"1","a.b/c":"","n":null,"o":{"x":"y"},"q":"\",}"}},"labels":{"z":"z"}})";
    EXPECT_EQ(labels(kObject), "a=1 a.b/c= q=\",}");
    EXPECT_EQ(label_at(kObject, "a.b/c"), "");
    EXPECT_EQ(label_at(kObject, "q"), "\",}");
    EXPECT_EQ(label_at(kObject, "a"), "1");
    EXPECT_EQ(label_at(kObject, "x"), "");
    std::vector<std::string> finalizers;
    each_finalizer(kObject, [&](std::string_view name) { finalizers.emplace_back(name); });
    EXPECT_EQ(fmt::format("{}", fmt::join(finalizers, " ")), "a/b q\"] c");
    for (const char* object :
         {"{}", R"({"metadata":{}})", R"({"metadata":{"labels":{},"finalizers":[]}})",
          R"({"metadata":{"labels":null,"finalizers":null}})",
          R"({"metadata":{"labels":["a"],"finalizers":{"a":"b"}}})"}) {
        EXPECT_EQ(labels(object), "") << object;
        each_finalizer(object, [&](std::string_view name) { ADD_FAILURE() << object << name; });
    }
}

/// Whatever characters strings consist of, and however deep it goes.
json::value random_value(Rng& rng, int depth) {
    const auto text = [&rng] {
        constexpr std::string_view kAlphabet = "ab\"\\{}[],:\n.";
        std::string made;
        for (std::uint64_t left = rng.below(4); left > 0; --left)
            made += kAlphabet[rng.below(kAlphabet.size())];
        return made;
    };
    switch (rng.below(depth > 0 ? 6 : 4)) {
        case 0:
            return text().c_str();
        case 1:
            return rng.below(1000);
        case 2:
            return nullptr;
        case 3:
            return rng.below(2) == 0;
        case 4: {
            json::array list;
            for (std::uint64_t left = rng.below(4); left > 0; --left)
                list.push_back(random_value(rng, depth - 1));
            return list;
        }
        default: {
            json::object object;
            for (std::uint64_t left = rng.below(4); left > 0; --left)
                object[text()] = random_value(rng, depth - 1);
            return object;
        }
    }
}

TEST(TextFields, FindsTheSameAsInTheTree) {
    Rng rng(7);
    int found = 0;
    for (int round = 0; round < 3000; ++round) {
        json::object object;
        for (const char* key : {"a", "b", "ab"}) object[key] = random_value(rng, 3);
        const std::string text = json::serialize(object);
        for (const char* path : {"a", "b", "ab", "a.a", "a.b", "b.ab", "ab.a.b", "b.}", "a.,"}) {
            const json::value* expected = kube::value_at_path(object, path);
            const auto seen = text_at_path(text, path);
            ASSERT_EQ(seen.has_value(), expected != nullptr) << path << " of " << text;
            if (expected == nullptr) continue;
            ++found;
            ASSERT_EQ(*seen, json::serialize(*expected)) << path << " of " << text;
        }
    }
    EXPECT_GT(found, 9000) << "more than the fields that are always there";
}

}  // namespace
}  // namespace muster::apiserver::text_fields_test
