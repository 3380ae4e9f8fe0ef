#include "cli/internal/envtest/go_flags.h"

#include <gmock/gmock.h>

namespace muster::cli::go_flags_test {
namespace {

using testing::ElementsAre;

const std::vector<GoFlag> kKnown{{"dir", GoFlagKind::kText},
                                 {"port", GoFlagKind::kNumber},
                                 {"on", GoFlagKind::kSwitch},
                                 {"two-words", GoFlagKind::kText},
                                 {"v", GoFlagKind::kText}};

Result<GivenFlags> read(std::vector<std::string> words, GoFlagStyle style = GoFlagStyle::kPflag) {
    return parse_go_flags(style, "server", kKnown, words);
}
std::string error_of(std::vector<std::string> words, GoFlagStyle style = GoFlagStyle::kPflag) {
    const auto given = read(std::move(words), style);
    return given ? "accepted" : given.error().message();
}

TEST(GoFlags, AreReadInAllTheirForms) {
    const auto given =
        read({"--dir=/a", "--dir", "/b=c", "--port=7", "--on", "--two_words=x", "-v4"});
    ASSERT_TRUE(given.has_value()) << given.error().message();
    EXPECT_THAT(given->all("dir"), ElementsAre("/a", "/b=c"));
    EXPECT_EQ(given->text("dir"), "/b=c");
    EXPECT_EQ(given->number("port", 1), 7);
    EXPECT_TRUE(given->on("on"));
    EXPECT_EQ(given->text("two-words"), "x");
    EXPECT_EQ(given->text("v"), "4");
    EXPECT_THAT(given->names(), ElementsAre("dir", "on", "port", "two-words", "v"));
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"-v", "4"}, {"-v=4"}, {"--v=4"}})
        EXPECT_EQ(read(words)->text("v"), "4");
}

TEST(GoFlags, WhatIsNotGivenIsTheDefault) {
    const auto given = read({"--on=false", ""});
    ASSERT_TRUE(given.has_value());
    EXPECT_FALSE(given->on("on", true));
    EXPECT_EQ(given->number("port", 6443), 6443);
    EXPECT_EQ(given->text("dir", "/d"), "/d");
    EXPECT_TRUE(given->list("dir").empty());
}

TEST(GoFlags, ListsAreSplitAtCommas) {
    const auto given = read({"--dir=a,b", "--dir=c", "--dir="});
    EXPECT_THAT(given->list("dir"), ElementsAre("a", "b", "c"));
}

TEST(GoFlags, TheStandardLibraryTakesOneDashToo) {
    const auto given = read({"-dir", "/a", "--on=F", "-port=7"}, GoFlagStyle::kStandard);
    ASSERT_TRUE(given.has_value()) << given.error().message();
    EXPECT_EQ(given->text("dir"), "/a");
    EXPECT_FALSE(given->on("on", true));
}

TEST(GoFlags, HelpIsAlwaysThere) {
    EXPECT_TRUE(read({"--help"})->has("help"));
    EXPECT_TRUE(read({"-h"})->has("help"));
    EXPECT_TRUE(read({"-help"}, GoFlagStyle::kStandard)->has("help"));
}

TEST(GoFlags, ErrorsAreThoseOfTheLibraries) {
    using enum GoFlagStyle;
    EXPECT_EQ(error_of({"--what=1"}), "unknown flag: --what");
    EXPECT_EQ(error_of({"-x"}), "unknown shorthand flag: 'x' in -x");
    EXPECT_EQ(error_of({"--dir"}), "flag needs an argument: --dir");
    EXPECT_EQ(error_of({"--port=a"}),
              "invalid argument \"a\" for \"--port\" flag: strconv.ParseInt: parsing \"a\": "
              "invalid syntax");
    EXPECT_EQ(error_of({"--on=maybe"}),
              "invalid argument \"maybe\" for \"--on\" flag: strconv.ParseBool: parsing \"maybe\": "
              "invalid syntax");
    EXPECT_EQ(error_of({"a", "--on", "b"}), "\"server\" does not take any arguments, got [a b]");
    EXPECT_EQ(error_of({"--", "--on"}), "\"server\" does not take any arguments, got [--on]");
    EXPECT_EQ(error_of({"-what"}, kStandard), "flag provided but not defined: -what");
    EXPECT_EQ(error_of({"--dir"}, kStandard), "flag needs an argument: -dir");
    EXPECT_EQ(error_of({"--on=maybe"}, kStandard),
              "invalid boolean value \"maybe\" for flag -on: parse error");
}

}  // namespace
}  // namespace muster::cli::go_flags_test
