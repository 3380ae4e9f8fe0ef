#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "workers/warm/messages.h"
#include "workers/warm/recipe.h"
#include "workers/warm/verdict.h"

namespace muster::workers::warm_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

launch::WorkerStart worker(std::vector<std::string> command, int spare_words) {
    launch::WorkerStart start;
    start.local_rank = 1;
    start.rank = 5;
    start.command = std::move(command);
    start.spare_words = spare_words;
    return start;
}

TEST(SpareRecipe, HasWhatTheNextWorkerWillHave) {
    const struct {
        std::string variable;
        bool known;
    } cases[] = {
        {"PATH", true},
        {"HOME", true},
        {"PYTHONPATH", true},
        {"OMP_NUM_THREADS", true},
        {"CUDA_VISIBLE_DEVICES", true},
        // A place's own.
        {"LOCAL_RANK", true},
        {"LOCAL_WORLD_SIZE", true},
        {"ROLE_NAME", true},
        {"TORCHELASTIC_RUN_ID", true},
        {"TORCHELASTIC_USE_AGENT_STORE", true},
        {"RANK", false},
        {"GROUP_RANK", false},
        {"ROLE_RANK", false},
        {"WORLD_SIZE", false},
        {"GROUP_WORLD_SIZE", false},
        {"ROLE_WORLD_SIZE", false},
        {"MASTER_ADDR", false},
        {"MASTER_PORT", false},
        {"TORCHELASTIC_RESTART_COUNT", false},
        {"TORCHELASTIC_ERROR_FILE", false},
        {"MUSTER_GENERATION", false},
        {"MUSTER_ERRORS", false},
        {"MUSTER_LEARN_MODULES", false},
        // Of the spare, and of the worker that it is.
        {"MUSTER_PROGRESS", true},
    };
    for (const auto& [variable, known] : cases) {
        EXPECT_EQ(is_left_out(variable), !known) << variable;
        launch::WorkerStart start = worker({"python", "a.py"}, 2);
        start.environment = {{variable, "x"}};
        EXPECT_EQ(recipe_for(start, {})->environment.size(), known ? 1U : 0U) << variable;
    }
}

TEST(SpareRecipe, IsForWorkersThatPythonRuns) {
    EXPECT_FALSE(recipe_for(worker({"./train"}, 0), {}));
    EXPECT_FALSE(recipe_for(worker({"python"}, 3), {})) << "there is not so much of it";
    const auto recipe = recipe_for(worker({"python", "-u", "a.py", "--lr", "1"}, 3), {});
    ASSERT_TRUE(recipe);
    EXPECT_EQ(recipe->local_rank, 1);
    EXPECT_THAT(recipe->head, ElementsAre("python", "-u", "a.py"));
    EXPECT_THAT(arguments_for(worker({"python", "-u", "a.py", "--lr", "1"}, 3)),
                ElementsAre("--lr", "1"));
}

TEST(SpareRecipe, ItsCommandIsThatOfItsWorkerBehindItsOwn) {
    const auto script = recipe_for(worker({"python", "-u", "a.py", "x"}, 3), {});
    EXPECT_THAT(
        spare_command(*script, "/z.py", {"torch", "numpy"}, "/learnt"),
        ElementsAre("python", "-u", "/z.py", "--control", "3", "--module", "torch", "--module",
                    "numpy", "--learnt", "/learnt", "--", "python", "-u", "a.py"));
    const auto module = recipe_for(worker({"python", "-u", "-m", "pack.a", "x"}, 4), {});
    EXPECT_THAT(spare_command(*module, "/z.py", {}, ""),
                ElementsAre("python", "-u", "/z.py", "--control", "3", "--", "python", "-u", "-m",
                            "pack.a"));
}

TEST(SpareRecipe, SaysWhoCantBeAnothersWorker) {
    const SpareRecipe made{.local_rank = 1,
                           .head = {"python", "-u", "a.py"},
                           .environment = {{"A", "1"}},
                           .placement = {.cpus = {0, 1}, .note = "one"}};
    const struct {
        std::string why;  ///< a part of it; empty: fits
        SpareRecipe wanted;
    } cases[] = {
        {"", made},
        // The spare itself knows which of them count.
        {"", {.local_rank = 1, .head = made.head, .placement = made.placement}},
        {"",
         {.local_rank = 1, .head = made.head, .placement = {.cpus = {0, 1}, .note = "another"}}},
        {"another local rank", {.local_rank = 0, .head = made.head, .placement = made.placement}},
        {"another command",
         {.local_rank = 1, .head = {"python", "-u", "b.py"}, .placement = made.placement}},
        {"other processors", {.local_rank = 1, .head = made.head}},
        {"other processors",
         {.local_rank = 1,
          .head = made.head,
          .placement = {.cpus = {0, 1}, .memory = launch::MemoryPolicy::kBind, .nodes = {0}}}},
    };
    for (const auto& [why, wanted] : cases)
        EXPECT_TRUE(why.empty() ? why_unfit(made, wanted).empty()
                                : why_unfit(made, wanted).find(why) != std::string::npos)
            << why << ": " << why_unfit(made, wanted);
}

TEST(SpareVerdict, KeepsWhatCanBeWarm) {
    using enum SpareVerdict::Kind;
    const struct {
        SpareReady ready;
        SpareVerdict::Kind kind;
        std::string module;
        std::string why;
    } cases[] = {
        {{.warm = true}, kKeep, "", ""},
        {{.warm = true, .reads = {"HOME", "LOCAL_RANK", "OMP_NUM_THREADS"}}, kKeep, "", ""},
        {{.warm = true, .note = "written under another Python"}, kKeep, "", ""},
        {{.warm = false, .why = "a can't be imported", .module = "a"},
         kWithout,
         "a",
         "a can't be imported"},
        {{.warm = false, .why = "it was given no modules to import"}, kNever, "", "no modules"},
        {{.warm = false, .why = "no modules", .note = "l was written under another Python"},
         kNever,
         "",
         "no modules: l was written under another Python"},
        {{.warm = true, .reads = {"HOME", "RANK"}}, kNever, "", "reads RANK"},
        {{.warm = true, .reads = {"MUSTER_SLOT"}}, kNever, "", "reads MUSTER_SLOT"},
        // The module that could not be imported is left out first.
        {{.warm = false, .why = "w", .module = "a", .reads = {"RANK"}}, kWithout, "a", "w"},
    };
    for (const auto& [ready, kind, module, why] : cases) {
        const SpareVerdict verdict = judge(ready);
        EXPECT_EQ(verdict.kind, kind) << why;
        EXPECT_EQ(verdict.module, module) << why;
        EXPECT_EQ(verdict.why.empty(), kind == kKeep);
        EXPECT_THAT(verdict.why, HasSubstr(why));
    }
}

TEST(SpareVerdict, AListIsReducedByModulesAndWhatLiesInThem) {
    const std::string list =
        R"({"version":1,"python":"3.11","modules":["torch","torch.optim","torchvision","numpy"]})";
    const struct {
        std::set<std::string> without;
        std::string left;
    } cases[] = {
        {{}, R"(["torch","torch.optim","torchvision","numpy"])"},
        {{"torch"}, R"(["torchvision","numpy"])"},
        {{"torch.optim", "numpy"}, R"(["torch","torchvision"])"},
        {{"other"}, R"(["torch","torch.optim","torchvision","numpy"])"},
    };
    for (const auto& [without, left] : cases) {
        const auto made = without_modules(list, without);
        ASSERT_TRUE(made);
        EXPECT_EQ(boost::json::parse(*made).at("modules"), boost::json::parse(left));
        EXPECT_EQ(boost::json::parse(*made).at("python"), "3.11") << "whose it is stays";
    }
    for (const char* const wrong : {"", "{", "[]", R"({"modules":1})", R"({"modules":[1]})"})
        EXPECT_FALSE(without_modules(wrong, {"a"})) << wrong;
}

TEST(SpareVerdict, ACauseIsTheSameForAllRanks) {
    EXPECT_EQ(cause_of("SEED was 'a' when it was imported"), cause_of("SEED was 'b' when it"));
    EXPECT_NE(cause_of("SEED was 'a'"), cause_of("COLOR was 'a'"));
    EXPECT_EQ(cause_of("x can't be"), "x can");
}

TEST(SpareMessages, AStartIsWhatPythonReads) {
    const std::string message =
        start_message({"--name", "a \"b\"\n", "\xc3\xbc"},
                      {"RANK=0", "EMPTY=", "EQUALS=a=b", "=C", "none"}, "/job");
    std::string received = message;
    const auto taken = take_message(received);
    ASSERT_TRUE(taken && *taken);
    EXPECT_EQ(received, "");
    const auto value = boost::json::parse(**taken);
    EXPECT_EQ(value.at("start"), true);
    EXPECT_EQ(value.at("version"), 1);
    EXPECT_EQ(value.at("args"), boost::json::parse(R"(["--name", "a \"b\"\n", "ü"])"));
    EXPECT_EQ(value.at("env"), boost::json::parse(R"({"RANK":"0","EMPTY":"","EQUALS":"a=b"})"));
    EXPECT_EQ(value.at("cwd"), "/job");
    EXPECT_EQ(value.at("fds"), boost::json::parse("[1, 2]"));
}

TEST(SpareMessages, BytesThatAreNoUtf8AreEscaped) {
    const struct {
        std::string bytes;
        std::string written;
    } cases[] = {
        {"\xff", "\\udcff"},
        {"a\x80z", "a\\udc80z"},
        {"\xc3", "\\udcc3"},  // cut off
        {"\xc3\xbc", "\xc3\xbc"},
        {"\xc0\x80", "\\udcc0\\udc80"},             // longer than needed
        {"\xed\xa0\x80", "\\udced\\udca0\\udc80"},  // a surrogate
        {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
        {"\xf4\x90\x80\x80", "\\udcf4\\udc90\\udc80\\udc80"},  // above the last
        {"\x01\\", "\\u0001\\u005c"},
    };
    for (const auto& [bytes, written] : cases)
        EXPECT_THAT(start_message({bytes}, {}, "/"), HasSubstr("[\"" + written + "\"]"));
}

TEST(SpareMessages, AreTakenWhenTheyAreWhole) {
    std::string received("\2\0\0\0{}\1\0", 8);
    EXPECT_EQ(**take_message(received), "{}");
    EXPECT_EQ(*take_message(received), std::nullopt) << "half a length";
    std::string part("\2\0\0\0{", 5);
    EXPECT_EQ(*take_message(part), std::nullopt);
    std::string long_one("\xff\xff\xff\x7f", 4);
    EXPECT_FALSE(take_message(long_one));
}

TEST(SpareMessages, OfASpareAreUnderstood) {
    const auto ready = parse_ready(
        R"({"ready": true, "version": 1, "pid": 7, "warm": true, "why": "", "module": "",
            "note": "n", "reads": ["HOME"], "seconds": 1.2})");
    ASSERT_TRUE(ready) << ready.error().message();
    EXPECT_EQ(*ready, (SpareReady{.warm = true, .note = "n", .reads = {"HOME"}}));
    EXPECT_EQ(*parse_started(R"({"started": true, "warm": false, "why": "w"})"),
              (SpareStarted{.warm = false, .why = "w"}));
    const auto refused = parse_started(R"({"refused": true, "why": "no cwd"})");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message(), "no cwd");
    for (const char* const wrong :
         {"", "[]", "{}", R"({"ready": true, "version": 2})", R"({"started": 1})", "x"}) {
        EXPECT_FALSE(parse_ready(wrong)) << wrong;
        EXPECT_FALSE(parse_started(wrong)) << wrong;
    }
}

}  // namespace
}  // namespace muster::workers::warm_test
