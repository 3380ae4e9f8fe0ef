#include "muster_run/final_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace muster::run::final_report_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Kind = agent::AgentEnd::Kind;

launch::LaunchPlan plan() {
    launch::LaunchPlan made;
    made.called = launch::LaunchCommand::kTorchrun;
    made.command.script = "train.py";
    made.rendezvous.endpoints = {{"node0", 29400}, {"node1", 29400}};
    made.rendezvous.decided_by = "--rdzv-endpoint";
    return made;
}

TEST(FinalReport, ExitCodes) {
    struct Case {
        Kind kind;
        std::optional<int> signal;
        int code;
    };
    const Case cases[] = {
        {Kind::kSucceeded, std::nullopt, 0}, {Kind::kSucceeded, SIGTERM, 0},
        {Kind::kFailed, std::nullopt, 1},    {Kind::kFailed, SIGTERM, 1},
        {Kind::kExcluded, std::nullopt, 1},  {Kind::kGaveUp, std::nullopt, 1},
        {Kind::kLeft, SIGTERM, 128 + 15},    {Kind::kLeft, std::nullopt, 1},
    };
    for (const Case& one : cases) {
        const FinalReport report = final_report(
            plan(), {.end = {.kind = one.kind, .text = "so it is"}, .signal = one.signal});
        EXPECT_EQ(report.exit_code, one.code) << static_cast<int>(one.kind);
        EXPECT_EQ(report.text.empty(), one.code != 1) << report.text;
    }
}

TEST(FinalReport, AFailedJobShowsTheWorkersOfThisNode) {
    const workers::Failure failure{.end = {.rank = 3, .exit_code = 7}};
    const std::string text =
        final_report(plan(), {.end = {.kind = Kind::kFailed, .text = "no more"},
                              .address = "10.0.0.7",
                              .failures = {failure}})
            .text;
    EXPECT_THAT(text, AllOf(HasSubstr("train.py"), HasSubstr("10.0.0.7"), HasSubstr("rank"),
                            testing::EndsWith("\ntorchrun: no more\n")));
    EXPECT_EQ(final_report(plan(), {.end = {.kind = Kind::kExcluded, .text = "no more"},
                                    .failures = {failure}})
                  .text,
              "torchrun: no more\n")
        << "the job goes on";
}

TEST(FinalReport, NoTerminalObeysWhatAWorkerOrAMasterSaid) {
    const workers::Failure first{.end = {.rank = 3, .exit_code = 1, .error = "ValueError"},
                                 .traceback = "Traceback:\n\tin \u202ef\x1b[2J\r\n"};
    const workers::Failure next{
        .end = {.rank = 4, .exit_code = 1, .error = "Broken pipe \x1b]0;title\a\xc2\x9b[2J"}};
    const std::string text =
        final_report(plan(), {.end = {.kind = Kind::kFailed, .text = "no \x1b[2J more"},
                              .failures = {first, next}})
            .text;
    EXPECT_THAT(text, AllOf(HasSubstr("\\x1b]0;title\\x07\\u009b[2J"), HasSubstr("\\x1b[2J more\n"),
                            HasSubstr("Traceback:\n    \tin \\u202ef")));
    for (const char* obeyed : {"\x1b", "\a", "\r", "\xc2\x9b", "\u202e"})
        EXPECT_THAT(text, testing::Not(HasSubstr(obeyed)));
}

TEST(FinalReport, ANodeThatFoundNoOneSaysWhereItLooked) {
    const agent::AgentEnd end{.kind = Kind::kGaveUp, .text = "no world"};
    EXPECT_EQ(final_report(plan(), {.end = end}).text,
              "torchrun: no world\n"
              "  The nodes meet at node0:29400, node1:29400 (--rdzv-endpoint): is one of this job "
              "there, and does every node say the same?\n");
    launch::LaunchPlan alone = plan();
    alone.rendezvous.endpoints.clear();
    EXPECT_EQ(final_report(alone, {.end = end}).text, "torchrun: no world\n");
    const agent::AgentEnd later{
        .kind = Kind::kGaveUp, .text = "the master is gone", .had_joined = true};
    EXPECT_EQ(final_report(plan(), {.end = later}).text, "torchrun: the master is gone\n")
        << "it had looked at the right place";
}

}  // namespace
}  // namespace muster::run::final_report_test
