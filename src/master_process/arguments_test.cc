#include "master_process/arguments.h"

#include <gmock/gmock.h>

namespace muster::master_process::arguments_test {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

TEST(MasterArguments, AreRead) {
    Arguments read;
    ASSERT_EQ(parse_arguments(
                  {"--job", "a", "--record-object=b", "-n", "ns", "--port", "7", "--kubeconfig",
                   "k", "--token-file=t", "--tls-cert=c", "--tls-key=d", "--tls-ca", "e"},
                  read),
              std::nullopt);
    EXPECT_EQ(read.job, "a");
    EXPECT_EQ(read.record_object, "b");
    EXPECT_EQ(read.namespace_, "ns");
    EXPECT_EQ(read.port, 7);
    EXPECT_EQ(read.kubeconfig, "k");
    EXPECT_EQ(read.token_file, "t");
    EXPECT_EQ(read.tls_cert + read.tls_key + read.tls_ca, "cde");
    Arguments wishes;
    ASSERT_EQ(parse_arguments({"--job=a", "--record-object=b", "--job-object=jobs.v1.example.com",
                               "--node-types=w", "--plan-object", "a-plan"},
                              wishes),
              std::nullopt);
    EXPECT_EQ(wishes.plan_object, "a-plan");
    Arguments least;
    ASSERT_EQ(parse_arguments({"--job=a", "--records", "/r"}, least), std::nullopt);
    EXPECT_EQ(least.records_file, "/r");
    EXPECT_FALSE(least.successor);
    Arguments next;
    ASSERT_EQ(parse_arguments({"--successor", "--job=a", "--records", "/r"}, next), std::nullopt);
    EXPECT_TRUE(next.successor);
    EXPECT_FALSE(next.begin_again);
    Arguments again;
    ASSERT_EQ(parse_arguments({"--begin-again", "--job=a", "--records", "/r"}, again),
              std::nullopt);
    EXPECT_TRUE(again.begin_again);
    EXPECT_EQ(least.port, 50001);
}

TEST(MasterArguments, WhatIsWrongIsNamed) {
    const std::pair<Words, const char*> rows[] = {
        {{}, "--job NAME"},
        {{"--job", "a"}, "either --records FILE or --record-object NAME"},
        {{"--job", "a", "--records", "r", "--record-object", "o"}, "either --records FILE"},
        {{"--job"}, "--job needs a value"},
        {{"--job="}, "--job needs a value"},
        {{"--what"}, "unknown flag \"--what\""},
        {{"--begin-again=no"}, "unknown flag \"--begin-again\""},
        {{"-x"}, "unknown flag \"-x\""},
        {{"word"}, "unexpected word \"word\""},
        {{"--job", "a", "--records", "r", "--port", "0"}, "from 1 to 65535, not \"0\""},
        {{"--job", "a", "--records", "r", "--port", "70000"}, "not \"70000\""},
        {{"--job", "a", "--records", "r", "--tls-cert", "c"}, "are given together"},
        {{"--job", "a", "--records", "r", "-n", "x"}, "--namespace has no effect with --records"},
        {{"--job", "a", "--records", "r", "--kubeconfig", "x"}, "--kubeconfig has no effect"},
        {{"--job", "a", "--record-object", "o", "--job-object", "jobs.v1.example.com"},
         "--job-object and --node-types are given together"},
        {{"--job", "a", "--record-object", "o", "--job-object", "jobs", "--node-types", "w"},
         "--job-object: \"jobs\" names no kind"},
        {{"--job", "a", "--record-object", "o", "--plan-object", "p"},
         "--plan-object needs --job-object"},
        {{"--job", "a", "--records", "r", "--job-object", "jobs.v1.e.c", "--node-types", "w"},
         "--job-object has no effect with --records"},
    };
    for (const auto& [words, text] : rows) {
        Arguments read;
        const auto wrong = parse_arguments(words, read);
        ASSERT_TRUE(wrong) << text;
        EXPECT_THAT(*wrong, HasSubstr(text));
    }
}

TEST(MasterArguments, HelpNamesEachFlag) {
    for (const char* flag :
         {"--job", "--port", "--records", "--record-object", "--namespace", "-n", "--kubeconfig",
          "--token-file", "--tls-cert", "--tls-key", "--tls-ca", "--successor", "--begin-again",
          "--job-object", "--node-types", "--plan-object"})
        EXPECT_THAT(std::string(help_text()), HasSubstr(flag));
}

}  // namespace
}  // namespace muster::master_process::arguments_test
