#include "tcp_store/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::tcp_store::commands_test {
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
    for (const Case& c : {Case{0, {.kind = Kind::kSet, .keys = {"k"}, .values = {"v"}}},
                          Case{2, {.kind = Kind::kGet, .keys = {"k"}}},
                          Case{3, {.kind = Kind::kAdd, .keys = {"init/"}, .number = 1}},
                          Case{5, {.kind = Kind::kWait, .keys = {"a", "b"}}},
                          Case{6, {.kind = Kind::kGetNumKeys}}}) {
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
}

/// A client of an age, by what it says; each command alone, as it waits for the answer.
class OldClient {
  public:
    explicit OldClient(std::uint8_t begins_with_delete) : delete_(begins_with_delete) {}

    std::string bytes(const StoreCommand& command) const {
        std::string out = encode(command);
        const auto number = static_cast<std::uint8_t>(command.kind);
        const auto of_delete = static_cast<std::uint8_t>(Kind::kDeleteKey);
        out[0] = static_cast<char>(number < of_delete ? number - 1 : number - of_delete + delete_);
        return out;
    }

  private:
    std::uint8_t delete_;
};

TEST(StoreCommands, WhatOldClientsMeanIsToldByWhatTheySayBeforeAndAfter) {
    const StoreCommand set{.kind = Kind::kSet, .keys = {"/k"}, .values = {"v"}};
    const StoreCommand wait{.kind = Kind::kWait, .keys = {"/a", "/b"}};
    const std::vector<std::vector<StoreCommand>> kSayings = {
        {{.kind = Kind::kDeleteKey, .keys = {"/k"}}},
        {set, {.kind = Kind::kDeleteKey, .keys = {"/k"}}, set},
        {{.kind = Kind::kAppend, .keys = {"/k"}, .values = {"v"}}},
        {{.kind = Kind::kAppend, .keys = {"/k"}, .values = {""}},
         {.kind = Kind::kDeleteKey, .keys = {"/k"}}},
        {wait, {.kind = Kind::kAppend, .keys = {"/k"}, .values = {"v"}}},
        {wait, {.kind = Kind::kMultiGet, .keys = {"/a", "/b"}}},
        {{.kind = Kind::kMultiSet, .keys = {"/a", "/b"}, .values = {"1", "2"}}},
        {wait,
         {.kind = Kind::kMultiSet, .keys = {"/a", "/b"}, .values = {"1", "2"}},
         {.kind = Kind::kDeleteKey, .keys = {"/k"}}},
    };
    for (const auto begins_with_delete : {std::uint8_t{7}, std::uint8_t{8}}) {
        const OldClient client(begins_with_delete);
        for (const std::vector<StoreCommand>& saying : kSayings) {
            for (std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{1000}}) {
                StoreReader reader;
                std::vector<StoreCommand> read;
                for (const StoreCommand& command : saying) {
                    const std::string bytes = client.bytes(command);
                    for (std::size_t at = 0; at < bytes.size(); at += piece) {
                        reader.put(bytes.substr(at, piece), at + piece < bytes.size());
                        for (auto next = reader.next();; next = reader.next()) {
                            ASSERT_TRUE(next) << next.error().message();
                            if (!*next) break;
                            read.push_back(**std::move(next));
                        }
                    }
                }
                EXPECT_EQ(read, saying) << int{begins_with_delete} << " in pieces of " << piece
                                        << ": " << &saying - kSayings.data();
            }
        }
    }
}

TEST(StoreCommands, WhatNoOldClientSaysIsNoCommand) {
    for (const char byte : {'\x0c', 'G'}) {
        StoreReader reader;
        reader.put(std::string(1, byte));
        const auto next = reader.next();
        ASSERT_FALSE(next);
        EXPECT_EQ(next.error().message(), "there is no command " + std::to_string(int{byte}));
    }
}

// Those of 2.1 end a wait themselves; those before can't.
TEST(StoreCommands, AnOldClientEndsItsWait) {
    const OldClient client(7);
    StoreReader reader;
    reader.put(client.bytes({.kind = Kind::kWait, .keys = {"/a"}}));
    ASSERT_TRUE(reader.next().value());
    reader.put(client.bytes({.kind = Kind::kCancelWait}));
    const auto next = reader.next();
    ASSERT_TRUE(next && *next);
    EXPECT_EQ((*next)->kind, Kind::kCancelWait);
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
}  // namespace muster::tcp_store::commands_test
