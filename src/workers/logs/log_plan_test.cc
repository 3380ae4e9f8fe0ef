#include "workers/logs/log_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::workers::log_plan_test {
namespace {

using ::testing::HasSubstr;
using enum StreamPlan::Console;

constexpr StreamPlan kInherited{.file = false, .console = kDirect};
constexpr StreamPlan kFileOnly{.file = true, .console = kNo};
constexpr StreamPlan kBoth{.file = true, .console = kPrefixed};
constexpr StreamPlan kSorted{.file = true, .filtered = true, .console = kPrefixed};
constexpr StreamPlan kNobody{.file = false, .console = kNo};

// What torchrun makes of the same flags: --redirects takes a stream away from the console, --tee
// leaves it there with a prefix, the filter silences.
TEST(LogPlan, FlagsMeanWhatTorchrunsMean) {
    struct Case {
        const char* what;
        LogFlags flags;
        int local_rank;
        RankLogPlan expected;
    };
    const Case cases[] = {
        {"nothing given", {}, 0, {kInherited, kInherited}},
        {"none, said", {.redirects = "0", .tee = "0"}, 1, {kInherited, kInherited}},
        {"both redirected", {.redirects = "3"}, 5, {kFileOnly, kFileOnly}},
        {"output redirected", {.redirects = "1"}, 0, {kFileOnly, kInherited}},
        {"error teed", {.tee = "2"}, 0, {kInherited, kBoth}},
        {"tee wins", {.redirects = "3", .tee = "1"}, 0, {kBoth, kFileOnly}},
        {"by rank, named", {.redirects = "0:1,1:2"}, 1, {kInherited, kFileOnly}},
        {"by rank, not named", {.redirects = "0:1,1:2"}, 2, {kInherited, kInherited}},
        {"two digits", {.tee = "0:0,10:3"}, 10, {kBoth, kBoth}},
        {"filtered out", {.local_ranks_filter = "0"}, 1, {kNobody, kNobody}},
        {"filtered out with a file",
         {.tee = "3", .local_ranks_filter = "0"},
         1,
         {kFileOnly, kFileOnly}},
        {"filtered in", {.tee = "3", .local_ranks_filter = "0, 1"}, 1, {kBoth, kBoth}},
        {"no files at all",
         {.log_dir = "/dev/null", .redirects = "3"},
         0,
         {kInherited, kInherited}},
        {"lines of a teed stream are sorted out",
         {.tee = "3", .out_filters = "loss"},
         0,
         {kSorted, kBoth}},
        {"each stream by its own texts",
         {.tee = "3", .out_filters = "loss", .error_filters = "Error"},
         0,
         {kSorted, kSorted}},
        {"not of a stream that is only redirected",
         {.redirects = "3", .out_filters = "loss"},
         0,
         {kFileOnly, kFileOnly}},
        {"not of a stream that goes straight out",
         {.error_filters = "Error"},
         0,
         {kInherited, kInherited}},
        {"of the ranks that are teed alone",
         {.tee = "1:1", .out_filters = "loss"},
         0,
         {kInherited, kInherited}},
        {"and of those that are shown",
         {.tee = "3", .local_ranks_filter = "0", .out_filters = "loss"},
         1,
         {kFileOnly, kFileOnly}},
        {"not where no files are wanted",
         {.log_dir = "/dev/null", .tee = "1", .out_filters = "loss"},
         0,
         {{.file = false, .console = kPrefixed}, kInherited}},
    };
    for (const Case& c : cases) {
        const auto plan = LogPlan::parse(c.flags);
        ASSERT_TRUE(plan) << c.what << ": " << plan.error().message();
        EXPECT_EQ(plan->of(c.local_rank), c.expected) << c.what;
    }
}

TEST(LogPlan, TextsOfAFilterStandBetweenCommas) {
    using Texts = std::vector<std::string>;
    const std::pair<const char*, Texts> cases[] = {
        {"", {}},
        {"loss", {"loss"}},
        {"loss,epoch 1", {"loss", "epoch 1"}},
        {"a,,b,c", {"a,b", "c"}},
        {",,", {","}},
        {",,,a", {",", "a"}},
        {"a,", {"a", ""}},
    };
    for (const auto& [text, expected] : cases) {
        EXPECT_EQ(LogPlan::parse({.out_filters = text})->out_texts(), expected) << text;
        EXPECT_EQ(LogPlan::parse({.error_filters = text})->error_texts(), expected) << text;
    }
}

TEST(LogPlan, AFilterThatSortsNothingIsSaid) {
    struct Case {
        LogFlags flags;
        std::vector<std::string> said;
    };
    const Case cases[] = {
        {{.tee = "3"}, {}},
        {{.tee = "0:1", .out_filters = "a"}, {}},
        {{.out_filters = "a"},
         {"--duplicate-stdout-filters has no effect: it filters what --tee shows; add --tee 1"}},
        {{.redirects = "3", .tee = "1", .error_filters = "a"},
         {"--duplicate-stderr-filters has no effect: it filters what --tee shows; add --tee 2"}},
        {{.log_dir = "/dev/null", .tee = "3", .out_filters = "a"},
         {"--duplicate-stdout-filters has no effect: --log-dir /dev/null turns log files off"}},
    };
    for (const Case& c : cases) EXPECT_EQ(LogPlan::parse(c.flags)->notes(), c.said);
}

TEST(LogPlan, AWrongValueNamesItsFlag) {
    const std::pair<LogFlags, const char*> cases[] = {
        {{.redirects = "4"}, "--redirects \"4\""},
        {{.redirects = "out"}, "--redirects"},
        {{.tee = "0:1,"}, ""},
        {{.tee = "0:1,x:2"}, "--tee"},
        {{.tee = "0:1,0:2"}, "listed twice"},
        {{.tee = "0:12"}, "--tee"},
        {{.local_ranks_filter = "0;1"}, "--local-ranks-filter"},
        {{.max_bytes = "big"}, "--log-max-size"},
        {{.max_bytes = "100"}, "--log-max-size"},
        {{.max_bytes = "5Mx"}, "--log-max-size"},
        {{.max_files = "0"}, "--log-max-files"},
    };
    for (const auto& [flags, expected] : cases) {
        const auto plan = LogPlan::parse(flags);
        if (*expected == '\0') {
            EXPECT_TRUE(plan);
            continue;
        }
        ASSERT_FALSE(plan) << expected;
        EXPECT_THAT(plan.error().message(), HasSubstr(expected));
        EXPECT_EQ(plan.error().code(), Code::kInvalid);
    }
}

TEST(LogPlan, SizesHaveUnits) {
    const std::pair<const char*, std::uint64_t> cases[] = {
        {"8192", 8192},        {"10K", 10'000},
        {"10KiB", 10'240},     {"100Mi", std::uint64_t{100} << 20},
        {"1G", 1'000'000'000}, {"2MB", 2'000'000}};
    for (const auto& [text, expected] : cases)
        EXPECT_EQ(LogPlan::parse({.max_bytes = text})->max_bytes(), expected) << text;
}

TEST(LogPlan, LinesBeginAsTorchrunsDo) {
    const LineAuthor author{.role = "trainer", .rank = 5, .local_rank = 1};
    EXPECT_EQ(LogPlan::parse({})->prefix(author), "[trainer1]:");
    EXPECT_EQ(
        LogPlan::parse({.line_prefix = "${rank}/${local_rank} ${role_name} "})->prefix(author),
        "5/1 trainer ");
}

TEST(LogPlan, ARunsNameIsMadeADirectorys) {
    EXPECT_EQ(directory_name("none"), "none");
    EXPECT_EQ(directory_name("a/b c"), "a_b_c");
    EXPECT_EQ(directory_name("../x"), "run.._x");
    EXPECT_EQ(directory_name(""), "run");
}

}  // namespace
}  // namespace muster::workers::log_plan_test
