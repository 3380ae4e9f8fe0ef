#include "kube/values/regex.h"

#include <gtest/gtest.h>

#include "base/test_growth.h"

namespace muster::kube::regex_test {
namespace {

TEST(Regex, HasTheSyntaxOfGo) {
    struct Case {
        const char* pattern;
        const char* text;
        bool matches;
    };
    const Case cases[] = {
        {"b+", "abbc", true},
        {"^b+$", "abbc", false},
        {"^$", "", true},
        {R"(^\d+\z)", "12", true},
        {R"(^\Qa.b\E$)", "a.b", true},
        {R"(^\Qa.b\E$)", "axb", false},
        {R"(^\pL+$)", "straße", true},
        {R"(^\pL+$)", "straße1", false},
        {R"(^\p{Greek}$)", "λ", true},
        {"^[[:alpha:]]+$", "abc", true},
        {"(?i)^ABC$", "abc", true},
        {"^.$", "é", true},
        {"^.{2}$", "é", false},
        {"^a$", "a\n", false},
        {"(?m)^a$", "b\na", true},
        {"^.$", "\n", false},
        {"^(?P<name>x)$", "x", true},
        {"^(|a)+$", "aaa", true},
        {"a||b", "", true},
    };
    for (const Case& each : cases) {
        const Regex regex(each.pattern);
        EXPECT_EQ(regex.problem(), "") << each.pattern;
        EXPECT_EQ(regex.matches(each.text), each.matches) << each.pattern << " on " << each.text;
    }
}

TEST(Regex, SaysWhatIsWrongInGosWords) {
    const std::pair<const char*, const char*> cases[] = {
        {"(", "missing closing ): `(`"},
        {"a)", "unexpected ): `a)`"},
        {"[a", "missing closing ]: `[a`"},
        {"[z-a]", "invalid character class range: `z-a`"},
        {R"(\8)", R"(invalid escape sequence: `\8`)"},
        {R"((a)\1)", R"(invalid escape sequence: `\1`)"},
        {"a\\", "trailing backslash at end of expression: ``"},
        {"*", "missing argument to repetition operator: `*`"},
        {"a**", "invalid nested repetition operator: `**`"},
        {"a{1001}", "invalid repeat count: `{1001}`"},
        {"a(?=b)", "invalid or unsupported Perl syntax: `(?=`"},
        {"a(?<!b)", "invalid or unsupported Perl syntax: `(?<`"},
        {"(?P<a", "invalid named capture: `(?P<a`"},
        {R"(\pX)", R"(invalid character class range: `\pX`)"},
    };
    for (const auto& [pattern, words] : cases) {
        const Regex regex(pattern);
        EXPECT_EQ(regex.problem(), std::string("error parsing regexp: ") + words) << pattern;
        EXPECT_FALSE(regex.matches("a")) << pattern;
        EXPECT_FALSE(regex.find("a", 0)) << pattern;
    }
}

TEST(Regex, FindsFromAPlaceOn) {
    const Regex regex("b.");
    const std::string_view text = "abcbd";
    const auto first = regex.find(text, 0);
    ASSERT_TRUE(first);
    EXPECT_EQ(*first, "bc");
    EXPECT_EQ(first->data() - text.data(), 1);
    EXPECT_EQ(regex.find(text, 2), "bd");
    EXPECT_FALSE(regex.find(text, 4));
}

TEST(Regex, IsCompiledOnceByAThread) { EXPECT_EQ(Regex::of("^kept$"), Regex::of("^kept$")); }

TEST(Regex, TakesTimeInProportionToTheText) {
    for (const char* pattern : {"^(a+)+$", "(a|a)*b", "[a-z]*[0-9]", "(a*)*(a*)*(a*)*b"}) {
        const Regex regex(pattern);
        EXPECT_LE(
            growth_by_ten(1'000'000,
                          [&](std::size_t size) { (void)regex.matches(std::string(size, 'a')); }),
            kLinearGrowth)
            << pattern;
    }
}

}  // namespace
}  // namespace muster::kube::regex_test
