#include "muster_run/hosting/new_token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::run::new_token_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

/// `words`: this program as it was called, of which the first `names` words are its name.
std::string line(std::vector<std::string> words, std::size_t names = 1,
                 const launch::Variables& variables = {}) {
    const std::vector<std::string> arguments(words.begin() + static_cast<std::ptrdiff_t>(names),
                                             words.end());
    auto parsed =
        launch::parse_launch_flags(launch::LaunchCommand::kMusterRun, arguments, variables);
    if (!parsed) return parsed.error().message();
    return command_for_others(words, std::get<launch::LaunchFlags>(*parsed), "ab12");
}

TEST(NewToken, TheOtherNodesGetTheSameCommandWithATokenThatIsNoWordOfIt) {
    EXPECT_EQ(line({"muster-run", "--nnodes", "2", "--token-file", "new", "train.py", "a b"}),
              "MUSTER_TOKEN=ab12 muster-run --nnodes 2 train.py 'a b'");
    EXPECT_EQ(line({"/opt/muster", "muster-run", "--token_file=new", "-m", "pkg.train"}, 2),
              "MUSTER_TOKEN=ab12 /opt/muster muster-run -m pkg.train");
}

TEST(NewToken, WhatIsOfOneNodeIsLeftOut) {
    EXPECT_EQ(line({"muster-run", "--node-rank=0", "--token-file", "new", "--local_addr",
                    "10.0.0.1", "--rack", "r", "train.py"}),
              "MUSTER_TOKEN=ab12 muster-run --rack r train.py");
}

TEST(NewToken, WhatBelongsToTheScriptStays) {
    EXPECT_EQ(line({"muster-run", "--token-file", "new", "train.py", "--token-file", "new"}),
              "MUSTER_TOKEN=ab12 muster-run train.py --token-file new");
    EXPECT_EQ(line({"muster-run", "--token-file", "new", "--", "train.py", "--node-rank=1"}),
              "MUSTER_TOKEN=ab12 muster-run -- train.py '--node-rank=1'");
}

TEST(NewToken, AVariableThatAsksForOneIsOverriddenThere) {
    EXPECT_EQ(line({"muster-run", "train.py"}, 1, {{"MUSTER_TOKEN_FILE", "new"}}),
              "MUSTER_TOKEN_FILE= MUSTER_TOKEN=ab12 muster-run train.py");
}

TEST(NewToken, IsATokenOfThisNodeAndTellsItsOthers) {
    launch::LaunchFlags flags;
    flags.script = "train.py";
    launch::LaunchPlan plan{.rendezvous = {.where = launch::Rendezvous::Where::kEndpoints},
                            .nodes = {2, 2},
                            .token_file = "new"};
    launch::Variables variables{{"MUSTER_TOKEN", "old"}, {"A", "b"}};
    const auto told = hand_out_new_token(flags, plan, variables);
    ASSERT_TRUE(told) << told.error().message();
    EXPECT_EQ(plan.token_file, "");
    const std::string* const set = launch::find_variable(variables, "MUSTER_TOKEN");
    ASSERT_NE(set, nullptr);
    const std::string token = *set;
    EXPECT_THAT(token, SizeIs(32));
    EXPECT_THAT(*told, AllOf(HasSubstr("on each other node run:\n  "),
                             HasSubstr("MUSTER_TOKEN=" + token + " ")));

    plan.nodes = {1, 1};
    plan.token_file = "new";
    EXPECT_EQ(hand_out_new_token(flags, plan, variables).value(), "") << "there is no other";
    EXPECT_NE(*launch::find_variable(variables, "MUSTER_TOKEN"), token) << "each is a new one";
}

}  // namespace
}  // namespace muster::run::new_token_test
