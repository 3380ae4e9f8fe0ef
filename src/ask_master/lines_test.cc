#include "ask_master/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::ask_master::lines_test {
namespace {

using namespace job_protocol;
using namespace std::chrono_literals;
using testing::HasSubstr;

Question::Key key_of(std::string_view line) {
    const auto question = read_question(line);
    EXPECT_TRUE(question) << line << ": " << question.error().message();
    return question ? std::get<Question::Key>(question->what) : Question::Key();
}

TEST(Lines, AQuestionIsRead) {
    EXPECT_EQ(key_of(R"({"id": 1, "ask": "set", "key": "k", "value": "00ff"})"),
              Question::Key(SetKey{"k", std::string("\0\xff", 2)}));
    EXPECT_EQ(key_of(R"({"id": 1, "ask": "get", "key": "k"})"), Question::Key(GetKey{"k"}));
    EXPECT_EQ(key_of(R"({"id": 1, "ask": "add", "key": "k", "amount": -3})"),
              Question::Key(AddToKey{"k", -3}));
    EXPECT_EQ(key_of(R"({"id": 1, "ask": "delete", "key": "k"})"), Question::Key(DeleteKey{"k"}));
    EXPECT_EQ(key_of(R"({"id": 1, "ask": "wait", "keys": ["a", "b"]})"),
              Question::Key(AwaitKeys{{"a", "b"}}));
    EXPECT_EQ(key_of(R"({"id": 1, "ask": "barrier", "name": "n"})"),
              Question::Key(EnterBarrier{"n"}));
    EXPECT_EQ(key_of(R"({"id": 1, "ask": "join", "name": "n"})"),
              Question::Key(JoinSyncPoint{"n"}));
    EXPECT_EQ(key_of(R"({"id": 1, "ask": "joined", "name": "n"})"),
              Question::Key(AwaitSyncPoint{"n"}));
    const auto timed = read_question(R"({"id": 7, "ask": "get", "key": "k", "seconds": 0.5})");
    EXPECT_EQ(timed->id, 7);
    EXPECT_EQ(timed->time, 500ms);
    EXPECT_EQ(read_question(R"({"id": 7, "ask": "get", "key": "k"})")->time, 300s);
    EXPECT_EQ(read_question(R"({"id": 7, "ask": "get", "key": "k", "seconds": 1e300})")->time,
              Duration(100'000'000s));
    const auto version = [](std::string_view line) {
        return std::get<VersionRequest>(read_question(line)->what);
    };
    EXPECT_EQ(version(R"({"id": 1, "ask": "version", "kind": "global", "set": 2})"),
              (VersionRequest{.type = {}, .set = 2}));
    EXPECT_EQ(version(R"({"id": 1, "ask": "version", "kind": "local", "type": "ps", "rank": 3})"),
              (VersionRequest{.kind = VersionKind::kLocal, .type = "ps", .rank = 3}));
}

TEST(Lines, WhatIsNoQuestionIsRefused) {
    for (const std::string_view line :
         {"", "x", "[]", "{}", R"({"id": 1})", R"({"id": 1, "ask": "fly"})",
          R"({"id": "1", "ask": "get", "key": "k"})", R"({"id": 1, "ask": "get"})",
          R"({"id": 1, "ask": "get", "key": 5})", R"({"id": 1, "ask": "add", "key": "k"})",
          R"({"id": 1, "ask": "add", "key": "k", "amount": 1.5})",
          R"({"id": 1, "ask": "set", "key": "k", "value": "0"})",
          R"({"id": 1, "ask": "set", "key": "k", "value": "0G"})",
          R"({"id": 1, "ask": "wait", "keys": "a"})", R"({"id": 1, "ask": "wait", "keys": [1]})",
          R"({"id": 1, "ask": "version", "kind": "own"})",
          R"({"id": 1, "ask": "version", "kind": "local", "type": "ps", "rank": 3000000000})",
          R"({"id": 1, "ask": "get", "key": "k", "seconds": -1})",
          R"({"id": 1, "ask": "get", "key": "k", "seconds": "x"})"}) {
        const auto question = read_question(line);
        ASSERT_FALSE(question) << line;
        EXPECT_EQ(question.error().code(), Code::kBadRequest) << line;
    }
    EXPECT_EQ(refusal_line(R"({"id": 5, "ask": "fly"})", Error(Code::kBadRequest, "no")),
              "{\"id\":5,\"error\":\"no\",\"code\":\"error\"}\n");
    EXPECT_EQ(refusal_line("x", Error(Code::kBadRequest, "no")), "{\"trouble\":\"no\"}\n");
}

TEST(Lines, AnAnswerHasWhatWasAskedFor) {
    const auto answer = [](std::string_view ask, const Result<KvAnswer>& with) {
        return answer_line(*read_question(ask), with);
    };
    EXPECT_EQ(answer(R"({"id": 1, "ask": "get", "key": "k"})", KvAnswer{.value = "\x01z"}),
              "{\"id\":1,\"value\":\"017a\"}\n");
    EXPECT_EQ(answer(R"({"id": 1, "ask": "get", "key": "k"})", KvAnswer{}),
              "{\"id\":1,\"value\":null}\n");
    EXPECT_EQ(answer(R"({"id": 1, "ask": "add", "key": "k", "amount": 1})", KvAnswer{.number = 4}),
              "{\"id\":1,\"number\":4}\n");
    EXPECT_EQ(answer(R"({"id": 1, "ask": "join", "name": "n"})", KvAnswer{.yes = true}),
              "{\"id\":1,\"yes\":true}\n");
    EXPECT_EQ(answer(R"({"id": 1, "ask": "barrier", "name": "n"})", KvAnswer{}), "{\"id\":1}\n");
    EXPECT_EQ(answer(R"({"id": 1, "ask": "barrier", "name": "n"})", Error(Code::kTimeout, "late")),
              "{\"id\":1,\"error\":\"late\",\"code\":\"timeout\"}\n");
    EXPECT_EQ(answer(R"({"id": 1, "ask": "get", "key": "k"})", Error(Code::kGone, "lost")),
              "{\"id\":1,\"error\":\"lost\",\"code\":\"gone\"}\n");
    const auto version = *read_question(R"({"id": 2, "ask": "version", "kind": "global"})");
    EXPECT_EQ(answer_line(version, Result<VersionAnswer>(VersionAnswer{.version = 3})),
              "{\"id\":2,\"number\":3}\n");
    EXPECT_EQ(
        cluster_line({.epoch = 1, .version = 2, .servers = {"a:1", "b\n:2"}, .complete = true}),
        "{\"cluster\":{\"version\":2,\"servers\":[\"a:1\",\"b\\n:2\"],\"complete\":true}}\n");
}

}  // namespace
}  // namespace muster::ask_master::lines_test
