#include "kube/patch/field_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "base/rng.h"

namespace muster::kube::field_set_test {
namespace {

using testing::HasSubstr;

FieldSet set_from(std::string_view fields_v1) {
    Result<FieldSet> set = FieldSet::from_json(json::parse(fields_v1));
    EXPECT_TRUE(set) << set.error().message();
    return set ? *std::move(set) : FieldSet();
}

std::string text(const FieldSet& set) { return json::serialize(set.to_json()); }

struct Element {
    const char* sent;
    const char* canonical;
    const char* shown;
};

TEST(PathElement, HasOneTextAndOneDescription) {
    for (const Element& row : {
             Element{"f:spec", "f:spec", ".spec"},
             Element{"f:", "f:", "."},
             Element{"f:a.b/c", "f:a.b/c", ".a.b/c"},
             Element{R"(k:{"name":"a"})", R"(k:{"name":"a"})", R"([name="a"])"},
             Element{R"(k:{ "protocol":"TCP", "port":80.0 })", R"(k:{"port":80,"protocol":"TCP"})",
                     R"([port=80,protocol="TCP"])"},
             Element{R"(v:"x\u0041")", R"(v:"xA")", R"([="xA"])"},
             Element{R"(v:"a\"b")", R"(v:"a\"b")", R"([="a\"b"])"},
             Element{"v:1e2", "v:100", "[=100]"},
             Element{"v:true", "v:true", "[=true]"},
             Element{"i:-3", "i:-3", "[-3]"},
         }) {
        const Result<PathElement> element = PathElement::parse(row.sent);
        ASSERT_TRUE(element) << row.sent << ": " << element.error().message();
        EXPECT_EQ(element->text(), row.canonical);
        EXPECT_EQ(element->describe(), row.shown);
        EXPECT_EQ(*PathElement::parse(element->text()), *element);
    }
}

TEST(PathElement, RefusesWhatIsNone) {
    for (const char* text : {"",
                             "f",
                             "spec",
                             "x:1",
                             "i:",
                             "i:1x",
                             "i:99999999999999999999",
                             "k:",
                             "k:{}",
                             "k:[1]",
                             R"(k:{"a":{}})",
                             "k:{",
                             "v:",
                             "v:[1]",
                             "v:{}",
                             "v:x",
                             "v:null",
                             "v:0.5",
                             "v:1e300",
                             R"(k:{"a":0.5})",
                             R"(k:{"a":null})"}) {
        const Result<PathElement> element = PathElement::parse(text);
        ASSERT_FALSE(element) << text;
        EXPECT_EQ(element.error().code(), Code::kBadRequest);
        EXPECT_THAT(element.error().message(), HasSubstr(text));
    }
}

TEST(PathElement, OrdersFieldsKeysValuesPositionsAndNumbersBySize) {
    const std::vector<const char*> ordered = {
        "f:a",
        "f:b",
        R"(k:{"name":"a"})",
        R"(k:{"name":"ab"})",
        R"(k:{"port":9,"protocol":"UDP"})",
        R"(k:{"port":80,"protocol":"TCP"})",
        R"(k:{"port":80,"protocol":"UDP"})",
        R"(k:{"port":443,"protocol":"TCP"})",
        R"(v:"worker-10")",
        R"(v:"worker-9")",
        "v:-10",
        "v:-2",
        "v:-1",
        "v:1",
        "v:9",
        "v:10",
        "i:9",
        "i:10",
    };
    for (std::size_t a = 0; a < ordered.size(); ++a)
        for (std::size_t b = 0; b < ordered.size(); ++b)
            EXPECT_EQ(*PathElement::parse(ordered[a]) <=> *PathElement::parse(ordered[b]), a <=> b)
                << ordered[a] << " and " << ordered[b];
}

TEST(FieldSet, ReadsAndWritesFieldsV1) {
    struct Row {
        const char* sent;
        const char* canonical;
        std::vector<const char*> members;
    };
    for (const Row& row : {
             Row{"{}", "{}", {}},
             Row{R"({"f:b":{},"f:a":{}})", R"({"f:a":{},"f:b":{}})", {".a", ".b"}},
             Row{R"({"f:a":{".":{}}})", R"({"f:a":{}})", {".a"}},
             Row{R"({"f:a":{"f:b":{},".":{}}})", R"({"f:a":{".":{},"f:b":{}}})", {".a", ".a.b"}},
             Row{R"({"f:a":{"f:b":{}}})", R"({"f:a":{"f:b":{}}})", {".a.b"}},
             Row{R"({"f:l":{"k:{\"name\": \"x\"}":{".":{},"f:name":{}},"v:2":{},"i:0":{}}})",
                 R"({"f:l":{"k:{\"name\":\"x\"}":{".":{},"f:name":{}},"v:2":{},"i:0":{}}})",
                 {R"(.l[name="x"])", R"(.l[name="x"].name)", ".l[=2]", ".l[0]"}},
         }) {
        const FieldSet set = set_from(row.sent);
        EXPECT_EQ(text(set), row.canonical);
        std::vector<std::string> members;
        for (const FieldPathElements& path : set.members()) {
            members.push_back(describe(path));
            EXPECT_TRUE(set.contains(path));
        }
        EXPECT_THAT(members, testing::ElementsAreArray(row.members));
    }
}

TEST(FieldSet, RefusesWhatIsNotFieldsV1) {
    for (const char* sent : {"[]", "1", "null", R"({"a":{}})", R"({"f:a":1})",
                             R"({"f:a":{"f:b":[]}})", R"({"k:{\"a\":1}":{},"k:{ \"a\":1}":{}})"}) {
        const Result<FieldSet> set = FieldSet::from_json(json::parse(sent));
        ASSERT_FALSE(set) << sent;
        EXPECT_EQ(set.error().code(), Code::kBadRequest) << sent;
    }
    json::value deep = json::object();
    for (int i = 0; i < 1000; ++i) deep = json::object{{"f:a", std::move(deep)}};
    EXPECT_FALSE(FieldSet::from_json(deep)) << "no depth overruns the stack";
}

struct Operation {
    const char* a;
    const char* b;
    const char* united;
    const char* common;
    const char* without;   ///< members of a that b lacks
    const char* subtrees;  ///< ... and are not below one that it has
};

TEST(FieldSet, Combines) {
    for (const Operation& row : {
             Operation{"{}", "{}", "{}", "{}", "{}", "{}"},
             Operation{R"({"f:a":{}})", "{}", R"({"f:a":{}})", "{}", R"({"f:a":{}})",
                       R"({"f:a":{}})"},
             Operation{R"({"f:a":{},"f:b":{}})", R"({"f:b":{},"f:c":{}})",
                       R"({"f:a":{},"f:b":{},"f:c":{}})", R"({"f:b":{}})", R"({"f:a":{}})",
                       R"({"f:a":{}})"},
             Operation{R"({"f:a":{".":{},"f:x":{}}})", R"({"f:a":{}})",
                       R"({"f:a":{".":{},"f:x":{}}})", R"({"f:a":{}})", R"({"f:a":{"f:x":{}}})",
                       "{}"},
             Operation{R"({"f:a":{}})", R"({"f:a":{"f:x":{}}})", R"({"f:a":{".":{},"f:x":{}}})",
                       "{}", R"({"f:a":{}})", R"({"f:a":{}})"},
             Operation{R"({"f:a":{"f:x":{},"f:y":{}}})", R"({"f:a":{"f:x":{}}})",
                       R"({"f:a":{"f:x":{},"f:y":{}}})", R"({"f:a":{"f:x":{}}})",
                       R"({"f:a":{"f:y":{}}})", R"({"f:a":{"f:y":{}}})"},
         }) {
        const FieldSet a = set_from(row.a);
        const FieldSet b = set_from(row.b);
        EXPECT_EQ(text(union_of(a, b)), row.united);
        EXPECT_EQ(text(intersection_of(a, b)), row.common);
        EXPECT_EQ(text(difference_of(a, b)), row.without) << row.a << " - " << row.b;
        EXPECT_EQ(text(without_subtrees(a, b)), row.subtrees) << row.a << " - " << row.b;
        EXPECT_EQ(includes(a, b), text(intersection_of(a, b)) == text(b));
    }
}

/// Paths over so few names that two sets meet often.
FieldSet random_set(Rng& rng) {
    FieldSet set;
    for (std::uint64_t i = rng.below(12); i > 0; --i) {
        FieldPathElements path;
        for (std::uint64_t depth = 1 + rng.below(3); depth > 0; --depth) {
            const auto number = static_cast<std::int64_t>(rng.below(3));
            if (rng.chance(0.7))
                path.push_back(PathElement::field(std::to_string(number)));
            else
                path.push_back(PathElement::item(json::value(number)));
        }
        set.insert(path);
    }
    return set;
}

TEST(FieldSet, KeepsTheLawsOfSets) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        SCOPED_TRACE(seed);
        Rng rng(seed);
        const FieldSet a = random_set(rng);
        const FieldSet b = random_set(rng);
        EXPECT_EQ(set_from(text(a)), a);
        EXPECT_EQ(union_of(a, b), union_of(b, a));
        EXPECT_EQ(intersection_of(a, b), intersection_of(b, a));
        EXPECT_EQ(union_of(difference_of(a, b), intersection_of(a, b)), a);
        EXPECT_TRUE(intersection_of(difference_of(a, b), b).empty());
        EXPECT_EQ(difference_of(union_of(a, b), b), difference_of(a, b));
        EXPECT_TRUE(includes(a, without_subtrees(a, b)));
        EXPECT_TRUE(includes(union_of(a, b), b));
        EXPECT_EQ(includes(a, b), difference_of(b, a).empty());
        std::size_t members = 0;
        for (const FieldPathElements& path : a.members()) {
            EXPECT_EQ(intersection_of(a, b).contains(path), b.contains(path)) << describe(path);
            ++members;
        }
        EXPECT_EQ(members,
                  difference_of(a, b).members().size() + intersection_of(a, b).members().size());
        // The same questions to the text.
        EXPECT_EQ(intersects(a.to_json(), b), !intersection_of(a, b).empty());
        EXPECT_EQ(includes(a.to_json(), b), includes(a, b));
    }
}

}  // namespace
}  // namespace muster::kube::field_set_test
