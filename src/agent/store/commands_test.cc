#include "agent/store/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using testing::HasSubstr;
using Kind = StoreCommandKind;

std::vector<StoreCommand> one_of_each() {
    return {
        {.kind = Kind::kPing, .number = 0xfedcba98},
        {.kind = Kind::kSet, .keys = {"/k"}, .values = {"v"}},
        {.kind = Kind::kCompareSet, .keys = {"/k"}, .values = {"", "desired"}},
        {.kind = Kind::kGet, .keys = {"/k"}},
        {.kind = Kind::kAdd, .keys = {"/n"}, .number = -3},
        {.kind = Kind::kCheck, .keys = {"a", "", "c"}},
        {.kind = Kind::kWait, .keys = {"a"}},
        {.kind = Kind::kGetNumKeys},
        {.kind = Kind::kDeleteKey, .keys = {"/k"}},
        {.kind = Kind::kAppend, .keys = {"/k"}, .values = {std::string("\0\xff", 2)}},
        {.kind = Kind::kMultiGet, .keys = {"a", "b"}},
        {.kind = Kind::kMultiSet, .keys = {"a", "b"}, .values = {"1", "2"}},
        {.kind = Kind::kCancelWait},
        {.kind = Kind::kQueuePush, .keys = {"q"}, .values = {std::string(100'000, 'x')}},
        {.kind = Kind::kQueuePop, .keys = {"q"}},
        {.kind = Kind::kQueueLen, .keys = {"q"}},
        {.kind = Kind::kListKeys},
        {.kind = Kind::kBarrier, .keys = {"b"}, .number = 64},
        {.kind = Kind::kCheck, .keys = {}},
    };
}

std::string hello() { return encode({.kind = Kind::kValidate, .number = kStoreMagic}); }

TEST(StoreCommands, AreReadHoweverTheyAreCut) {
    const std::vector<StoreCommand> sent = one_of_each();
    std::string bytes = hello();
    for (const StoreCommand& command : sent) bytes += encode(command);
    for (std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, bytes.size()}) {
        StoreReader reader;
        std::vector<StoreCommand> read;
        for (std::size_t at = 0; at < bytes.size(); at += piece) {
            reader.put(std::string_view(bytes).substr(at, piece));
            for (auto next = reader.next();; next = reader.next()) {
                ASSERT_TRUE(next) << next.error().message();
                if (!*next) break;
                read.push_back(**std::move(next));
            }
        }
        EXPECT_EQ(read, sent) << piece;
    }
}

// What torch 2.x sends when it connects and adds one, byte for byte.
TEST(StoreCommands, HaveTorchsBytes) {
    const std::string sent(
        "\x00\xce\xf7\x85\x3c"
        "\x0d\x01\x02\x03\x04"
        "\x04\x05\0\0\0\0\0\0\0init/\x01\0\0\0\0\0\0\0",
        5 + 5 + 1 + 8 + 5 + 8);
    EXPECT_EQ(encode({.kind = Kind::kValidate, .number = kStoreMagic}) +
                  encode({.kind = Kind::kPing, .number = 0x04030201}) +
                  encode({.kind = Kind::kAdd, .keys = {"init/"}, .number = 1}),
              sent);
}

TEST(StoreCommands, ThoseOfTorch1AreCountedOtherwiseAndBeginWithoutAWord) {
    struct Case {
        std::uint8_t byte;
        StoreCommand wanted;
    };
    for (const Case& c :
         {Case{0, {.kind = Kind::kSet, .keys = {"k"}, .values = {"v"}}},
          Case{2, {.kind = Kind::kGet, .keys = {"k"}}},
          Case{3, {.kind = Kind::kAdd, .keys = {"init/"}, .number = 1}},
          Case{5, {.kind = Kind::kWait, .keys = {"a", "b"}}}, Case{6, {.kind = Kind::kGetNumKeys}},
          Case{8, {.kind = Kind::kDeleteKey, .keys = {"k"}}}}) {
        std::string bytes = encode(c.wanted);
        bytes[0] = static_cast<char>(c.byte);
        StoreReader reader;
        reader.put(bytes.substr(0, 1));
        auto next = reader.next();
        ASSERT_TRUE(next);
        if (!*next) {
            reader.put(bytes.substr(1));
            next = reader.next();
        }
        ASSERT_TRUE(next && *next) << int{c.byte};
        EXPECT_EQ(**next, c.wanted) << int{c.byte};
    }
    StoreReader watcher;
    watcher.put("\x07");
    EXPECT_EQ(watcher.next().error().message(), "watching a key is not served");
}

TEST(StoreCommands, WhatIsOverALimitIsRefusedBeforeItIsThere) {
    const auto number = [](std::uint64_t value) {
        std::string out;
        append_number(out, static_cast<std::int64_t>(value));
        return out;
    };
    struct Case {
        std::string bytes;
        const char* wanted;
    };
    for (const Case& c : {
             Case{"\x13", "there is no command 19"},
             Case{"GET / HTTP/1.1", "there is no command 71"},
             Case{"\xff", "there is no command 255"},
             Case{"\x01" + number(8193), "a key of 8193 bytes; torch allows 8192"},
             Case{"\x01" + number(1) + "k" + number(8u * 1024 * 1024 + 1),
                  "a value of 8388609 bytes; torch allows 8388608"},
             Case{"\x05" + number(131073), "131073 keys at once; torch allows 131072"},
             Case{"\x06" + number(UINT64_MAX), "18446744073709551615 keys at once"},
             Case{"\x01" + number(UINT64_MAX), "a key of 18446744073709551615 bytes"},
         }) {
        StoreReader reader;
        reader.put(hello() + c.bytes);
        const auto next = reader.next();
        ASSERT_FALSE(next) << c.wanted;
        EXPECT_THAT(next.error().message(), HasSubstr(c.wanted));
    }
}

}  // namespace
}  // namespace muster::agent
