#include "cli/internal/completion/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/internal/command_line/command_line.h"

namespace muster::cli::completion_test {
namespace {

using Source = Completion::Source;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

Completion completed(const std::vector<std::string>& line) {
    return complete_line(known_verbs(), line);
}
std::vector<std::string> words(const std::vector<std::string>& line) {
    const Completion completion = completed(line);
    return fitting(completion, completion.words);
}

TEST(Completion, VerbsAndFlagsAreThoseOfTheCommandLine) {
    EXPECT_THAT(words({"va"}), ElementsAre("validate"));
    EXPECT_THAT(words({""}), testing::IsSupersetOf({"run", "get", "completion"}));
    EXPECT_THAT(words({""}), Not(Contains("__complete")));
    EXPECT_THAT(words({"logs", "--t"}), ElementsAre("--tail", "--timestamps"));
    EXPECT_THAT(words({"get", "-"}), Contains("-A"));
    EXPECT_THAT(words({"nonsense", ""}), IsEmpty());
    EXPECT_THAT(words({}), IsEmpty());
}

TEST(Completion, ValuesOfFlags) {
    EXPECT_THAT(words({"get", "pods", "-o", "j"}), ElementsAre("json", "jsonpath="));
    EXPECT_THAT(words({"get", "--output=y"}), ElementsAre("--output=yaml"));
    // As bash cuts it.
    EXPECT_THAT(words({"get", "--output", "=", "y"}), ElementsAre("yaml"));
    EXPECT_THAT(words({"get", "--output", "="}), Contains("yaml"));
    EXPECT_THAT(words({"run", "--output", "j"}), ElementsAre("json"));
    EXPECT_THAT(words({"completion", ""}), ElementsAre("bash", "fish", "zsh"));
    EXPECT_THAT(words({"run", "--set", ""}), IsEmpty()) << "nobody knows";
    EXPECT_EQ(completed({"get", "-n", ""}).source, Source::kNamespaces);
    EXPECT_EQ(completed({"get", "--context="}).source, Source::kContexts);
}

TEST(Completion, WhatTheServerIsAsked) {
    struct Row {
        std::vector<std::string> line;
        Source source;
        const char* kind;
        const char* before;
        const char* typed;
    };
    const Row kRows[] = {
        {{"get", ""}, Source::kKinds, "", "", ""},
        {{"get", "po"}, Source::kKinds, "", "", "po"},
        {{"get", "-A", "-o", "wide", "po"}, Source::kKinds, "", "", "po"},
        {{"get", "pods", "di"}, Source::kNames, "pods", "", "di"},
        {{"get", "pods", "a", ""}, Source::kNames, "pods", "", ""},
        {{"delete", "pod/di"}, Source::kNames, "pod", "pod/", "di"},
        {{"delete", "pod/a", ""}, Source::kKinds, "", "", ""},
        {{"wait", "pod/a", "job/"}, Source::kNames, "job", "job/", ""},
        {{"logs", "di"}, Source::kJobs, "", "", "di"},
        {{"logs", "pod/di"}, Source::kNames, "pod", "pod/", "di"},
        {{"top", "pods", ""}, Source::kNames, "pods", "", ""},
        {{"events", "--for", "po"}, Source::kKinds, "", "", "po"},
        {{"events", "--for=pod/a"}, Source::kNames, "pod", "--for=pod/", "a"},
        {{"apply", "-f", ""}, Source::kWords, "", "", ""},
    };
    for (const Row& row : kRows) {
        const Completion completion = completed(row.line);
        EXPECT_EQ(completion.source, row.source) << row.line.back();
        EXPECT_EQ(completion.kind, row.kind) << row.line.back();
        EXPECT_EQ(completion.before, row.before) << row.line.back();
        EXPECT_EQ(completion.typed, row.typed) << row.line.back();
    }
}

TEST(Completion, TheLineNamesItsServer) {
    const Completion completion =
        completed({"get", "--context", "home", "-n", "ml", "--kubeconfig=k", "pods", ""});
    EXPECT_EQ(completion.server.context, "home");
    EXPECT_EQ(completion.server.namespace_, "ml");
    EXPECT_EQ(completion.server.kubeconfig, "k");
    EXPECT_EQ(completion.kind, "pods");
}

TEST(Completion, AnswersAreWholeWordsOnce) {
    Completion completion;
    completion.before = "pod/";
    completion.typed = "a";
    EXPECT_THAT(fitting(completion, {"b", "ab", "a", "ab"}), ElementsAre("pod/a", "pod/ab"));
}

TEST(Completion, EachShellHasAScript) {
    for (const char* shell : {"bash", "zsh", "fish"})
        EXPECT_THAT(std::string(completion_script(shell)), testing::HasSubstr("__complete"));
    EXPECT_EQ(completion_script("csh"), "");
}

}  // namespace
}  // namespace muster::cli::completion_test
