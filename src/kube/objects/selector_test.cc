#include "kube/objects/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::kube::selector_test {
namespace {

using testing::StartsWith;
using Labels = std::map<std::string, std::string>;

struct ParseRow {
    const char* text;
    const char* canonical;
};

// apimachinery pkg/labels/selector_test.go: TestSelectorParse, TestSetSelectorParser, TestLexer.
TEST(LabelSelector, Parses) {
    constexpr ParseRow kRows[] = {
        {"", ""},
        {"   ", ""},
        {"x", "x"},
        {"\rx", "x"},
        {"a ", "a"},
        {"!x", "!x"},
        {"! x", "!x"},
        {"x=a,y=b,z=c", "x=a,y=b,z=c"},
        {"z=c,x=a,y=b", "x=a,y=b,z=c"},
        {"x==a", "x=a"},
        {"x!=a,y=b", "x!=a,y=b"},
        {"x != a", "x!=a"},
        {"x=", "x="},
        {"x= ", "x="},
        {"x=,z= ", "x=,z="},
        {"x= ,z= ", "x=,z="},
        {"x>1", "x>1"},
        {"x>1,z<5", "x>1,z<5"},
        {"this-is-a-dns.domain.com/key-with-dash", "this-is-a-dns.domain.com/key-with-dash"},
        {"this-is-another-dns.domain.com/key-with-dash in (so,what)",
         "this-is-another-dns.domain.com/key-with-dash in (so,what)"},
        {"0.1.2.domain/99 notin (10.10.100.1, tick.tack.clock)",
         "0.1.2.domain/99 notin (10.10.100.1,tick.tack.clock)"},
        {"foo in\t (abc)", "foo in (abc)"},
        {"x notin\n (abc)", "x notin (abc)"},
        {"x  notin\t\t(abc,def)", "x notin (abc,def)"},
        {"x in (def,abc,def)", "x in (abc,def)"},
        {"x in (abc,)", "x in (,abc)"},
        {"x in ()", "x in ()"},
        {"x notin ( )", "x notin ()"},
        {"x notin (, a)", "x notin (,a)"},
        {"x notin (abc,,def),bar,z in (),w", "bar,w,x notin (,abc,def),z in ()"},
        {"x,y in (a)", "x,y in (a)"},
        {"x=a,y!=b,z in (h,i,j)", "x=a,y!=b,z in (h,i,j)"},
        {"a in (x,y,notin, z,in)", "a in (in,notin,x,y,z)"},
        {"in in (in)", "in in (in)"},
        {"in=notin,notin", "in=notin,notin"},
        {"x in(a)", "x in (a)"},
    };
    for (const ParseRow& row : kRows) {
        Result<LabelSelector> selector = LabelSelector::parse(row.text);
        ASSERT_TRUE(selector) << row.text << ": " << selector.error().message();
        EXPECT_EQ(selector->to_string(), row.canonical) << row.text;
        EXPECT_EQ(LabelSelector::parse(selector->to_string()).value(), *selector) << row.text;
    }
}

TEST(LabelSelector, RefusesWithTheMessagesThatClientsShow) {
    constexpr ParseRow kRows[] = {
        {"x a", "unable to parse requirement: found 'a', expected: in, notin, =, ==, !=, gt, lt"},
        {"x=a||y=b",
         "unable to parse requirement: values[0][x]: Invalid value: \"a||y\": must be empty"},
        {"x==a==b", "found '==', expected: ',' or 'end of string'"},
        {"!x=a", "found '=', expected: ',' or 'end of string'"},
        {"x<a",
         "unable to parse requirement: values[0][x]: Invalid value: \"a\": for 'Gt', 'Lt' "
         "operators, the value must be an integer"},
        {"x>", "unable to parse requirement: values[0][x]: Invalid value: \"\": for 'Gt'"},
        {"x>99999999999999999999", "unable to parse requirement: values[0][x]: Invalid value"},
        {"x,,y", "found ',', expected: identifier after ','"},
        {",x,y", "found ',', expected: !, identifier, or 'end of string'"},
        {"x nott in (y)", "unable to parse requirement: found 'nott', expected: in, notin"},
        {"a in (xyz),", "found '', expected: identifier after ','"},
        {"a in (xyz)b", "found 'b', expected: ',' or 'end of string'"},
        {"a in (xyz abc)", "unable to parse requirement: found 'abc', expected: ',' or ')'"},
        {"a notin(", "unable to parse requirement: found '', expected: ',', ')' or identifier"},
        {"a in xyz", "unable to parse requirement: found 'xyz', expected: '('"},
        {"a (", "unable to parse requirement: found '(', expected: in, notin"},
        {"(", "found '(', expected: !, identifier, or 'end of string'"},
        {"!", "unable to parse requirement: found '', expected: identifier"},
        {"!!x", "unable to parse requirement: found '!', expected: identifier"},
        {"x=(", "unable to parse requirement: found '(', expected: identifier"},
        {"x in (a", "unable to parse requirement: found '', expected: ',' or ')'"},
        {"x in (=)", "unable to parse requirement: found '=', expected: ',', ')' or identifier"},
        {"-x", "unable to parse requirement: key: Invalid value: \"-x\": the name must consist"},
        {"a/b/c", "unable to parse requirement: key: Invalid value: \"a/b/c\""},
        {"x=a/b", "unable to parse requirement: values[0][x]: Invalid value: \"a/b\""},
    };
    for (const ParseRow& row : kRows) {
        Result<LabelSelector> selector = LabelSelector::parse(row.text);
        ASSERT_FALSE(selector) << row.text;
        EXPECT_EQ(selector.error().code(), Code::kBadRequest);
        EXPECT_THAT(selector.error().message(), StartsWith(row.canonical)) << row.text;
    }
    EXPECT_FALSE(LabelSelector::parse(std::string_view("x\0y", 3)));
}

struct MatchRow {
    const char* selector;
    Labels labels;
    bool matches;
};

// apimachinery pkg/labels/selector_test.go: TestSelectorMatches, TestRequirementSelectorMatching.
TEST(LabelSelector, Matches) {
    const MatchRow kRows[] = {
        {"", {{"x", "y"}}, true},
        {"x=y", {{"x", "y"}}, true},
        {"x=y,z=w", {{"x", "y"}, {"z", "w"}}, true},
        {"x!=y,z!=w", {{"x", "z"}, {"z", "a"}}, true},
        {"notin=in", {{"notin", "in"}}, true},
        {"x", {{"x", "z"}}, true},
        {"!x", {{"y", "z"}}, true},
        {"x>1", {{"x", "2"}}, true},
        {"x<1", {{"x", "0"}}, true},
        {"x=z", {}, false},
        {"x=y", {{"x", "z"}}, false},
        {"x=y,z=w", {{"x", "w"}, {"z", "w"}}, false},
        {"x!=y,z!=w", {{"x", "z"}, {"z", "w"}}, false},
        {"x", {{"y", "z"}}, false},
        {"!x", {{"x", "z"}}, false},
        {"x>1", {{"x", "0"}}, false},
        {"x<1", {{"x", "2"}}, false},
        {"x!=y", {}, true},
        {"x notin (a,b)", {}, true},
        {"x notin (a,b)", {{"x", "b"}}, false},
        {"x notin (a,b)", {{"x", "c"}}, true},
        {"x in (a,b)", {{"x", "b"}}, true},
        {"x in (a,b)", {}, false},
        {"x in ()", {{"x", ""}}, true},
        {"x in ()", {}, false},
        {"x=", {{"x", ""}}, true},
        {"x=", {}, false},
        {"x>1", {}, false},
        {"x>1", {{"x", "many"}}, false},
        {"x>1", {{"x", "1"}}, false},
        {"x>9", {{"x", "10"}}, true},
        {"x>1,x<5", {{"x", "3"}}, true},
        {"x>1,x<5", {{"x", "5"}}, false},
    };
    for (const MatchRow& row : kRows) {
        LabelSelector selector = LabelSelector::parse(row.selector).value();
        EXPECT_EQ(selector.matches(row.labels), row.matches) << row.selector;
        std::string_view value;
        auto lookup = [&](std::string_view key) -> const std::string_view* {
            auto it = row.labels.find(std::string(key));
            if (it == row.labels.end()) return nullptr;
            value = it->second;
            return &value;
        };
        EXPECT_EQ(selector.matches(LabelSelector::Lookup(lookup)), row.matches) << row.selector;
    }
}

TEST(LabelSelector, IsMadeFromPairs) {
    EXPECT_TRUE(LabelSelector::from_map({}).empty());
    LabelSelector selector = LabelSelector::from_map({{"b", "2"}, {"a", "1"}});
    EXPECT_EQ(selector.to_string(), "a=1,b=2");
    EXPECT_TRUE(selector.matches(Labels{{"a", "1"}, {"b", "2"}, {"c", "3"}}));
    EXPECT_FALSE(selector.matches(Labels{{"a", "1"}}));
    EXPECT_EQ(selector, LabelSelector::parse("b=2,a=1").value());
}

struct FieldRow {
    const char* text;
    std::vector<FieldRequirement> requirements;
};

// apimachinery pkg/fields/selector_test.go: TestSplitTerms, TestSplitTerm, TestEscapeValue.
TEST(FieldSelector, Parses) {
    const FieldRow kRows[] = {
        {"", {}},
        {",,", {}},
        {"a=avalue", {{"a", "avalue", false}}},
        {"a==b", {{"a", "b", false}}},
        {"a!=b", {{"a", "b", true}}},
        {"a=", {{"a", "", false}}},
        {"metadata.name=x,status.phase!=Running",
         {{"metadata.name", "x", false}, {"status.phase", "Running", true}}},
        {"a=b,", {{"a", "b", false}}},
        {R"(a=\,\=\\,c=d)", {{"a", R"(,=\)", false}, {"c", "d", false}}},
        {R"(key=value\=with\=equals)", {{"key", "value=with=equals", false}}},
        {"a==\\=b", {{"a", "=b", false}}},
        {"=v", {{"", "v", false}}},
    };
    for (const FieldRow& row : kRows) {
        auto parsed = parse_field_selector(row.text);
        ASSERT_TRUE(parsed) << row.text << ": " << parsed.error().message();
        EXPECT_EQ(*parsed, row.requirements) << row.text;
        EXPECT_EQ(parse_field_selector(to_string(*parsed)).value(), row.requirements) << row.text;
    }
}

TEST(FieldSelector, Refuses) {
    constexpr ParseRow kRows[] = {
        {"a", "invalid selector: 'a'; can't understand 'a'"},
        {"a=b,c", "invalid selector: 'a=b,c'; can't understand 'c'"},
        {"a>1", "invalid selector: 'a>1'; can't understand 'a>1'"},
        {"a=b=c", "invalid field selector: unescaped character in value: ="},
        {"a===b", "invalid field selector: unescaped character in value: ="},
        {"a=b\\", "invalid field selector: invalid escape sequence: \\"},
        {"a=\\n", "invalid field selector: invalid escape sequence: \\n"},
    };
    for (const ParseRow& row : kRows) {
        auto parsed = parse_field_selector(row.text);
        ASSERT_FALSE(parsed) << row.text;
        EXPECT_EQ(parsed.error().code(), Code::kBadRequest);
        EXPECT_THAT(parsed.error().message(), StartsWith(row.canonical)) << row.text;
    }
}

TEST(Selectors, HaveABoundAsEachRequirementIsLookedAtForEachObject) {
    std::string labels = "a in (b";
    std::string fields = "metadata.name!=a";
    for (int i = 1; i < 100; ++i) {
        labels += ",v" + std::to_string(i);
        fields += ",metadata.name!=b";
    }
    labels += ")";
    EXPECT_TRUE(LabelSelector::parse(labels)) << "values of one label are one requirement";
    EXPECT_TRUE(parse_field_selector(fields));
    EXPECT_EQ(parse_field_selector(fields + ",metadata.name!=c").error().code(), Code::kBadRequest);
    std::string many = "k0";
    for (int i = 1; i <= 100; ++i) many += ",k" + std::to_string(i);
    EXPECT_EQ(LabelSelector::parse(many).error().code(), Code::kBadRequest);
}

}  // namespace
}  // namespace muster::kube::selector_test
