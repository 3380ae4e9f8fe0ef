#include "cli/internal/pods/command_messages.h"

#include <gmock/gmock.h>

namespace muster::cli::command_messages_test {
namespace {

using namespace std::string_literals;
using Kind = ServerMessage::Kind;

TEST(CommandMessages, WhatAClientSays) {
    EXPECT_EQ(input_message("hi"), "\0hi"s);
    EXPECT_EQ(end_of_input_message(), "\xff\0"s);
    EXPECT_EQ(terminal_size_message({.columns = 101, .rows = 33}),
              "\4{\"Width\":101,\"Height\":33}");
}

TEST(CommandMessages, WhatAServerSays) {
    EXPECT_EQ(parse_server_message("\1out").kind, Kind::kOutput);
    EXPECT_EQ(parse_server_message("\1out").bytes, "out");
    EXPECT_EQ(parse_server_message("\2err").kind, Kind::kError);
    EXPECT_EQ(parse_server_message("\3{}").kind, Kind::kEnd);
    for (const std::string& other : {""s, "\1"s, "\0x"s, "\4x"s, "\x7fx"s, "\xff\1"s})
        EXPECT_EQ(parse_server_message(other).kind, Kind::kOther);
}

TEST(CommandMessages, HowACommandEnded) {
    EXPECT_EQ(read_command_end(R"({"metadata":{},"status":"Success"})").value(), 0);
    EXPECT_EQ(read_command_end(R"({"status":"Failure","reason":"NonZeroExitCode","details":
        {"causes":[{"reason":"Other","message":"9"},{"reason":"ExitCode","message":"3"}]}})")
                  .value(),
              3);
    const auto refused = read_command_end(
        R"({"status":"Failure","reason":"InternalError","code":500,"message":"no such file"})");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message(), "no such file");
    for (const char* text :
         {"", "x", "[]", "{}", R"({"status":"Failure","reason":"NonZeroExitCode"})",
          R"({"status":"Failure","reason":"NonZeroExitCode",
              "details":{"causes":[{"reason":"ExitCode","message":"x"}]}})"})
        EXPECT_FALSE(read_command_end(text)) << text;
}

}  // namespace
}  // namespace muster::cli::command_messages_test
