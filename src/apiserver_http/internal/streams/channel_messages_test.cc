#include "apiserver_http/internal/streams/channel_messages.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "kube/values/json.h"

namespace muster::apiserver_http::channel_messages_test {
namespace {

using namespace std::string_view_literals;

TEST(ChannelMessagesTest, WhatAClientSays) {
    using Kind = ClientMessage::Kind;
    struct Case {
        std::string_view message;
        bool version_5;
        ClientMessage expected;
    };
    const Case cases[] = {
        {"\0hello"sv, false, {Kind::kInput, "hello", {}}},
        {"\0"sv, true, {Kind::kInput, "", {}}},
        {"\377\0"sv, true, {Kind::kEndOfInput, "", {}}},
        {"\4{\"Width\":80,\"Height\":24}"sv, true, {Kind::kResize, "", {80, 24}}},
        {"\4{\"Height\":65535,\"Width\":0,\"x\":1}\n"sv, false, {Kind::kResize, "", {0, 65535}}},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.message);
        const auto said = parse_client_message(c.message, c.version_5);
        ASSERT_TRUE(said) << said.error();
        EXPECT_EQ(*said, c.expected);
    }
}

TEST(ChannelMessagesTest, WhatNoClientMaySay) {
    struct Case {
        std::string_view message;
        bool version_5;
        std::string reason;
    };
    const Case cases[] = {
        {""sv, true, "a message without a channel"},
        {"\1out"sv, true, "nothing may be sent on channel 1"},
        {"\3{}"sv, true, "nothing may be sent on channel 3"},
        {"\377\0"sv, false, "nothing may be sent on channel 255"},
        {"\377\1"sv, true, "only the standard input can be closed"},
        {"\377"sv, true, "only the standard input can be closed"},
        {"\4[]"sv, true, "the size of a terminal is not a JSON object"},
        {"\4{"sv, true, "the size of a terminal is not a JSON object"},
        {"\4{\"Width\":80}"sv, true,
         "the size of a terminal needs Width and Height, from 0 to 65535"},
        {"\4{\"Width\":80,\"Height\":65536}"sv, true,
         "the size of a terminal needs Width and Height, from 0 to 65535"},
        {"\4{\"Width\":-1,\"Height\":2}"sv, true,
         "the size of a terminal needs Width and Height, from 0 to 65535"},
    };
    for (const Case& c : cases) {
        SCOPED_TRACE(c.reason);
        const auto said = parse_client_message(c.message, c.version_5);
        ASSERT_FALSE(said);
        EXPECT_EQ(said.error(), c.reason);
    }
}

TEST(ChannelMessagesTest, HowACommandEnded) {
    const auto status = [](Result<int> end) { return json::parse(command_status(end)); };
    EXPECT_EQ(status(0), json::parse(R"({"metadata":{},"status":"Success"})"));
    const json::value failed = status(3);
    EXPECT_EQ(failed.at("status"), "Failure");
    EXPECT_EQ(failed.at("reason"), "NonZeroExitCode");
    EXPECT_EQ(failed.at("details").at("causes"),
              json::parse(R"([{"reason":"ExitCode","message":"3"}])"));
    const json::value broken = status(Error(Code::kInternal, "x: No such file or directory"));
    EXPECT_EQ(broken.at("status"), "Failure");
    EXPECT_EQ(broken.at("reason"), "InternalError");
    EXPECT_EQ(broken.at("message"),
              "Internal error occurred: error executing command in container: "
              "x: No such file or directory");
}

}  // namespace
}  // namespace muster::apiserver_http::channel_messages_test
