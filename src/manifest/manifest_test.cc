#include "manifest/manifest.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>
#include <cmath>
#include <utility>

#include "base/test_growth.h"

namespace muster::manifest::manifest_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string repeat(std::string_view text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

std::vector<std::string> json_of(std::string_view text) {
    std::vector<std::string> all;
    Manifest manifest = read_manifest(text, "m.yaml");
    for (const Problem& problem : manifest.problems) all.push_back(format(problem));
    for (const Document& document : manifest.documents)
        all.push_back(json::serialize(document.object));
    return all;
}

struct Good {
    std::string name;
    std::string text;
    std::vector<std::string> json;
};
class Reads : public testing::TestWithParam<Good> {};
TEST_P(Reads, AsJson) { EXPECT_EQ(json_of(GetParam().text), GetParam().json); }

INSTANTIATE_TEST_SUITE_P(
    Manifest, Reads,
    testing::Values(
        Good{"BlockAndFlow", "a: 1\nb: {c: [x, 'y']}\n", {R"({"a":1,"b":{"c":["x","y"]}})"}},
        Good{"MissingValuesAreNull", "a:\nb: ~\nc: null\n", {R"({"a":null,"b":null,"c":null})"}},
        Good{"QuotedScalarsAreStrings",
             "a: \"1\"\nb: 'true'\nc: |\n  2\n",
             {R"({"a":"1","b":"true","c":"2\n"})"}},
        Good{"ExplicitTags",
             "a: !!str 3\nb: !!float 3\nc: !!int 3\n",
             {R"({"a":"3","b":3E0,"c":3})"}},
        Good{"SeveralDocuments",
             "a: 1\n---\n# nothing here\n---\nb: 2\n...\nc: 3\n",
             {R"({"a":1})", R"({"b":2})", R"({"c":3})"}},
        Good{"DirectiveBelongsToItsDocument", "%YAML 1.2\n---\na: 1\n", {R"({"a":1})"}},
        Good{"DocumentOnItsMarkerLine", "--- {a: 1}\n--- {b: 2}\n", {R"({"a":1})", R"({"b":2})"}},
        Good{"MarkerInsideABlockScalarEndsIt",
             "a: |\n  x\n---\nb: 1\n",
             {R"({"a":"x\n"})", R"({"b":1})"}},
        Good{"Json",
             "{\"a\": {\"b\": [1, 2.5, \"x\"]}, \"t\": true}",
             {R"({"a":{"b":[1,2.5E0,"x"]},"t":true})"}},
        Good{"JsonWithTabs", "{\n\t\"a\": [\n\t\t1\n\t]\n}\n", {R"({"a":[1]})"}},
        Good{"JsonSurrogatePairs",
             "{\"a\": \"\\ud83d\\ude00\", \"b\": \"\\\\ud83d\"}",
             {"{\"a\":\"\xF0\x9F\x98\x80\",\"b\":\"\\\\ud83d\"}"}},
        Good{"ByteOrderMark",
             "\xEF\xBB\xBF"
             "a: 1\n",
             {R"({"a":1})"}},
        Good{"WindowsLineEnds", "a: 1\r\n---\r\nb: 2\r\n", {R"({"a":1})", R"({"b":2})"}},
        Good{"TabsBetweenTokens", "a:\t1\n", {R"({"a":1})"}},
        Good{"Aliases", "a: &x {k: [1]}\nb: *x\n", {R"({"a":{"k":[1]},"b":{"k":[1]}})"}},
        Good{"AnchorsOfOneDocumentOnly",
             "a: &x 1\nb: *x\n---\na: &x 2\nb: *x\n",
             {R"({"a":1,"b":1})", R"({"a":2,"b":2})"}},
        Good{"MergeKey",
             "d: &d {x: 1, z: 2}\ne: {<<: *d, z: 3}\n",
             {R"({"d":{"x":1,"z":2},"e":{"z":3,"x":1}})"}},
        Good{"OwnKeysWinOverLaterMerge",
             "d: &d {z: 2}\ne: {z: 3, <<: *d}\n",
             {R"({"d":{"z":2},"e":{"z":3}})"}},
        Good{"EarlierMergeWins", "e:\n  <<: [{a: 1}, {a: 2, b: 3}]\n", {R"({"e":{"a":1,"b":3}})"}},
        Good{"QuotedMergeKeyIsAKey", "\"<<\": 1\n", {R"({"<<":1})"}},
        Good{"KeysBecomeStrings", "1: a\ntrue: b\n1.5: c\n", {R"({"1":"a","true":"b","1.5":"c"})"}},
        Good{"ListIsTakenApart",
             "apiVersion: v1\nkind: List\nitems:\n- {a: 1}\n- {b: 2}\n",
             {R"({"a":1})", R"({"b":2})"}},
        Good{"DeepButAllowed",
             repeat("[", 200) + repeat("]", 200),
             {repeat("[", 200) + repeat("]", 200)}}),
    [](const auto& test) { return test.param.name; });

/// Whole messages for bad input: place, and what to do.
struct Bad {
    std::string name;
    std::string text;
    std::string problem;
};
class Refuses : public testing::TestWithParam<Bad> {};
TEST_P(Refuses, WithPlace) {
    EXPECT_THAT(json_of(GetParam().text), ElementsAre(HasSubstr(GetParam().problem)));
}

std::string alias_bomb() {
    std::string text = "a: &a [x, x, x, x, x, x, x, x, x]\n";
    for (char c = 'b'; c <= 'i'; ++c) {
        char before = static_cast<char>(c - 1);
        text += std::string(1, c) + ": &" + c + " [" + repeat(std::string("*") + before + ", ", 9) +
                "]\n";
    }
    return text;
}

INSTANTIATE_TEST_SUITE_P(
    Manifest, Refuses,
    testing::Values(
        Bad{"NotYaml", "kind: PyTorchJob\n  name: x\n", "m.yaml:2:7: error: a \": \" where no key"},
        Bad{"TwoColons", "a: b: c\n", "m.yaml:1:5: error: a \": \" where no key can stand"},
        Bad{"TabIndent", "a:\n\tb: 1\n", "m.yaml:2:3: error: a tab in the indentation"},
        Bad{"TabAfterSpaces", "a:\n  b: 1\n\tc: 1\n",
            "m.yaml:3:1: error: a tab in the indentation"},
        Bad{"UnclosedList", "a: [1, 2\nb: 3\n",
            "m.yaml:2:2: error: the list that starts at line 1, column 4 is not closed"},
        Bad{"UnclosedMap", "a: {b: 1\nc: 3\n",
            "error: the map that starts at line 1, column 4 is not closed"},
        Bad{"UnclosedQuote", "a: \"xyz\nb: 3\n",
            "m.yaml:1:4: error: the quote that opens here is never closed"},
        Bad{"UnclosedSingleQuote", "a: 'it''s\nb: 3\n",
            "m.yaml:1:4: error: the quote that opens here"},
        Bad{"BadIndent", "a:\n    b: 1\n  c: 2\n",
            "m.yaml:3:3: error: this does not belong to the map that starts at line 1, column 1"},
        Bad{"ReservedCharacter", "a: @x\n",
            "m.yaml:1:4: error: a text can't start with this character"},
        Bad{"SameKeyTwice", "a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n",
            "m.yaml:5:3: error: the key \"c\" is there twice; first at line 3, column 3"},
        Bad{"SameKeyTwiceOnceQuoted", "a: 1\n\"a\": 2\n",
            "m.yaml:2:1: error: the key \"a\" is there twice"},
        Bad{"SameKeyTwiceAfterUmlauts", "{\xC3\xBC\xC3\xBC: 1, b: 2, b: 3}\n",
            "m.yaml:1:15: error: the key \"b\""},
        Bad{"NotANumber", "a: [.nan]\n",
            "m.yaml:1:5: error: .nan is not a number that JSON can hold"},
        Bad{"Infinity", "a: -.inf\n", "m.yaml:1:4: error: -.inf is not a number"},
        Bad{"IntegerTooLarge", "a: 99999999999999999999\n",
            "m.yaml:1:4: error: 99999999999999999999 does not fit into 64 bits"},
        Bad{"FloatTooLarge", "a: 1e999\n", "m.yaml:1:4: error: 1e999 is out of the range"},
        Bad{"UnknownTag", "a: !thing x\n", "m.yaml:1:4: error: the tag !thing is not known"},
        Bad{"WrongTag", "a: !!int x\n", "m.yaml:1:4: error: \"x\" is not of type !!int"},
        Bad{"Binary", "a: !!binary eA==\n", "m.yaml:1:4: error: !!binary has no form in JSON"},
        Bad{"ListAsKey", "? [a]\n: b\n", "m.yaml:1:3: error: a list or map can't be a key"},
        Bad{"AValueOfATemplate", "a: 1\nb: {{ .Values.b }}\n",
            "error: this is a template and not yet a manifest: fill in what stands in {{ }} first, "
            "for example with helm template"},
        Bad{"ALineOfATemplate", "{{- $config := .Values.config }}\n# a comment\na: 1\n",
            "m.yaml:1:3: error: this is a template"},
        Bad{"NullKey", "~: b\n", "m.yaml:1:1: error: a key can't be null"},
        Bad{"UnknownAlias", "a: *x\n",
            "m.yaml:1:4: error: not YAML: the referenced anchor is not defined"},
        Bad{"AliasInsideItsAnchor", "a: &x [1, *x]\n",
            "m.yaml:1:11: error: this alias stands inside"},
        Bad{"AliasBomb", alias_bomb(),
            "error: the aliases of this document expand to more than 1572864 bytes"},
        Bad{"AliasMakesItTooDeep",
            "a: &a " + repeat("[", 150) + repeat("]", 150) + "\nb: " + repeat("[", 60) + "*a" +
                repeat("]", 60),
            "error: more than 200 lists and maps inside each other"},
        Bad{"MergeOfAScalar", "a:\n  <<: 1\n", "m.yaml:2:7: error: \"<<\" merges a map"},
        Bad{"TwoValues", "\"a\" \"b\"\n", "m.yaml:1:5: error: the document has ended before this"},
        Bad{"DeepFlow", repeat("[", 20000) + repeat("]", 20000),
            "m.yaml:1:201: error: more than 200 lists and maps inside each other"},
        Bad{"DeepFlowUnclosed", repeat("[", 20000), "error: more than 200 lists and maps"},
        Bad{"DeepMaps", repeat("{a: ", 20000), "m.yaml:1:797: error: more than 200"},
        Bad{"DeepBlock", repeat("- ", 20000) + "x\n", "m.yaml:1:401: error: more than 200"},
        Bad{"DeepKeys", repeat("? ", 20000) + "x\n", "error: more than 200"},
        Bad{"TooLarge", repeat("a: 1\n", 400000),
            "m.yaml:314573:5: error: this object has 2000000 bytes, the limit is 1572864"},
        Bad{"InvalidUtf8", "a: 1\nb: x\xFFy\n",
            "m.yaml:2:5: error: byte 9 (0xff) is not valid UTF-8"},
        Bad{"OverlongUtf8", "a: \xC0\xAF\n", "m.yaml:1:4: error: byte 3 (0xc0) is not valid UTF-8"},
        Bad{"Utf8Surrogate", "a: \xED\xA0\x80\n", "m.yaml:1:4: error: byte 3 (0xed)"},
        Bad{"CutOffUtf8", "a: \xE2\x82", "m.yaml:1:4: error: byte 3 (0xe2)"},
        Bad{"Utf16",
            std::string("\xFF\xFE"
                        "a\0:\0",
                        6),
            "m.yaml:1:1: error: the file is UTF-16; save it as UTF-8"},
        Bad{"ControlCharacter", "a: \"x\x04y\"\n",
            "m.yaml:1:6: error: byte 5 is the control character U+0004"},
        Bad{"NulByte", std::string("a: \0\n", 5),
            "m.yaml:1:4: error: byte 3 is the control character U+0000"},
        Bad{"Empty", "", "m.yaml:1:1: error: the manifest is empty"},
        Bad{"OnlyComments", "# nothing\n---\n# here\n",
            "m.yaml:1:1: error: the manifest is empty"}),
    [](const auto& test) { return test.param.name; });

TEST(Manifest, OneBrokenDocumentHidesNoOther) {
    EXPECT_THAT(json_of("a: 1\n---\nb: [\n---\nc: 1\nc: 2\n---\nd: 4\n"),
                ElementsAre(HasSubstr("m.yaml:4:1: error: the list"),
                            HasSubstr("m.yaml:6:1: error: the key"), R"({"a":1})", R"({"d":4})"));
}

TEST(Manifest, AllProblemsOfADocumentAtOnce) {
    EXPECT_THAT(
        json_of("a: .nan\nb: 1\nb: 2\nc: !x y\n"),
        ElementsAre(HasSubstr("m.yaml:1:4:"), HasSubstr("m.yaml:3:1:"), HasSubstr("m.yaml:4:4:")));
}

std::string place_text(const Document& document, std::string_view field) {
    Place place = place_of(document.places, field);
    return std::to_string(place.line) + ":" + std::to_string(place.column);
}

TEST(Manifest, PlacesFollowFieldPaths) {
    Manifest manifest = read_manifest(
        "metadata:\n"
        "  labels: {app.kubernetes.io/name: x, app: y}\n"
        "spec:\n"
        "  list:\n"
        "  - name: a\n"
        "    ports: [1, 2]\n"
        "  empty:\n"
        "  shared: &s {deep: 1}\n"
        "  again: *s\n"
        "  merged: {<<: *s, own: 2}\n",
        "m.yaml");
    ASSERT_THAT(manifest.problems, IsEmpty());
    const Document& document = manifest.documents.at(0);
    EXPECT_EQ(place_text(document, ""), "1:1");
    EXPECT_EQ(place_text(document, "metadata.labels.app.kubernetes.io/name"), "2:36");
    EXPECT_EQ(place_text(document, "metadata.labels[app.kubernetes.io/name]"), "2:36");
    EXPECT_EQ(place_text(document, "metadata.labels.app"), "2:44");
    EXPECT_EQ(place_text(document, "spec.list[0].name"), "5:11");
    EXPECT_EQ(place_text(document, "spec.list[0].ports[1]"), "6:16");
    EXPECT_EQ(place_text(document, "spec.again.deep"), "8:21") << "an alias leads to its anchor";
    EXPECT_EQ(place_text(document, "spec.merged.deep"), "8:21");
    EXPECT_EQ(place_text(document, "spec.merged.own"), "10:25");
    EXPECT_EQ(place_text(document, "spec.empty"), "7:3") << "a null is shown at its key";
    EXPECT_EQ(place_text(document, "spec.list[0].missing.deeper"), "5:5") << "the nearest ancestor";
    EXPECT_EQ(place_text(document, "spec.list[7]"), "4:3");
    EXPECT_EQ(place_text(document, "spec.missing"), "3:1");
    EXPECT_EQ(place_text(document, "missing"), "1:1");
}

TEST(Manifest, ProblemsInAListNameTheItem) {
    Manifest manifest =
        read_manifest("kind: List\nitems:\n- {a: 1}\n- kind: XList\n  items: [{b: 2}]\n", "m.yaml");
    ASSERT_EQ(manifest.documents.size(), 2U);
    EXPECT_EQ(format(manifest.documents[0].problem(Severity::kError, "a", "bad")),
              "m.yaml:3:7: error: items[0].a: bad");
    EXPECT_EQ(format(manifest.documents[1].problem(Severity::kWarning, "b", "bad")),
              "m.yaml:5:15: warning: items[1].items[0].b: bad");
}

TEST(Manifest, ProblemsOfASetFieldNameTheFlag) {
    Manifest manifest = read_manifest("spec: {x: 1}\n", "m.yaml");
    Document document = manifest.documents.at(0);
    document.overrides = {{"spec.y", "--set spec.y=2"}};
    EXPECT_EQ(format(document.problem(Severity::kError, "spec.y.z", "bad")),
              "--set spec.y=2: error: spec.y.z: bad");
    EXPECT_EQ(format(document.problem(Severity::kError, "spec.yy", "bad")),
              "m.yaml:1:1: error: spec.yy: bad");
}

std::string list_on_one_line(std::size_t nodes, std::string_view open, std::string_view close) {
    std::string text(open);
    for (std::size_t i = 0; i < nodes; ++i) text += fmt::format("{}é{}", i == 0 ? "" : ", ", i);
    return text + std::string(close);
}

TEST(ManifestCost, OfOneLineGrowsWithItsLength) {
    for (const auto& [open, close] : {std::pair("a: [", "]"), std::pair("{\"a\": [", "]}")})
        EXPECT_LE(growth_by_ten(1'500,
                                [&](std::size_t nodes) {
                                    const std::string text = list_on_one_line(nodes, open, close);
                                    ASSERT_TRUE(read_manifest(text, "m").problems.empty());
                                }),
                  kLinearGrowth)
            << open;
}

TEST(ManifestCost, ColumnsFarToTheRightAreCountedInCharacters) {
    const std::string text = list_on_one_line(1'000, "a: [", "]");
    const Manifest manifest = read_manifest(text, "m");
    ASSERT_TRUE(manifest.problems.empty());
    const Place last = place_of(manifest.documents[0].places, "a[999]");
    // Each "é" is two bytes and one character.
    EXPECT_EQ(last.line, 1);
    EXPECT_EQ(last.column, static_cast<int>(text.find("é999") - 999) + 1);
}

}  // namespace
}  // namespace muster::manifest::manifest_test
