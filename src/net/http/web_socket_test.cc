#include "net/http/web_socket.h"

#include <boost/asio/co_spawn.hpp>

#include "base/async/signal.h"
#include "base/utf8.h"
#include "net/http/http_server_fixture.h"
#include "net/internal/http/web_socket_frames.h"

namespace muster::net::web_socket_test {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

std::string from_hex(std::string_view digits) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
        bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
    return bytes;
}

/// What a decoder says to bytes: events and then the violation, if any. However the bytes are cut,
/// it must say the same.
std::string decoded(std::string_view bytes, bool masked, std::size_t limit = 1000) {
    std::string first;
    for (const std::size_t piece : {bytes.size(), std::size_t{1}, std::size_t{3}}) {
        WebSocketDecoder decoder(masked, limit);
        std::string said;
        for (std::size_t at = 0; at < bytes.size() && piece > 0; at += piece) {
            decoder.put(bytes.substr(at, piece));
            for (;;) {
                const auto event = decoder.next();
                if (!event) said += std::to_string(event.error().code) + "!";
                if (!event || !*event) break;
                said += std::to_string(static_cast<int>((*event)->kind)) + "=" + (*event)->bytes;
                if ((*event)->close_code != 0) said += "/" + std::to_string((*event)->close_code);
                said += ";";
            }
        }
        if (piece == bytes.size()) first = said;
        EXPECT_EQ(said, first) << "in pieces of " << piece;
    }
    return first;
}

TEST(WebSocketFrames, AreReadAsTheStandardShowsThem) {
    // The examples of RFC 6455, section 5.7.
    EXPECT_EQ(decoded(from_hex("810548656c6c6f"), false), "1=Hello;");
    EXPECT_EQ(decoded(from_hex("818537fa213d7f9f4d5158"), true), "1=Hello;");
    EXPECT_EQ(decoded(from_hex("010348656c80026c6f"), false), "1=Hello;");
    EXPECT_EQ(decoded(from_hex("890548656c6c6f"), false), "9=Hello;");
    EXPECT_EQ(decoded(from_hex("8a8537fa213d7f9f4d5158"), true), "10=Hello;");
}

TEST(WebSocketFrames, ABadOneIsNamedByItsCode) {
    struct Case {
        const char* what;
        std::string bytes;
        const char* said;
    };
    for (const Case& c : {
             Case{"a ping between fragments",
                  from_hex("0101618900"
                           "8001"
                           "62"),
                  "9=;1=ab;"},
             Case{"an empty close", from_hex("8800"), "8=/1005;"},
             Case{"a close with reason", from_hex("880503e8") + "bye", "8=bye/1000;"},
             Case{"nothing after a close",
                  from_hex("8800"
                           "8100"),
                  "8=/1005;"},
             Case{"an empty message", from_hex("8200"), "2=;"},
             Case{"a reserved bit", from_hex("c100"), "1002!"},
             Case{"an unknown kind", from_hex("8300"), "1002!"},
             Case{"an unknown control", from_hex("8b00"), "1002!"},
             Case{"a mask from a server", from_hex("818000000000"), "1002!"},
             Case{"a ping in fragments", from_hex("0900"), "1002!"},
             Case{"a long ping", from_hex("897e0080"), "1002!"},
             Case{"a continuation of nothing", from_hex("8000"), "1002!"},
             Case{"a message within another",
                  from_hex("0100"
                           "8100"),
                  "1002!"},
             Case{"a length that is too long by two bytes", from_hex("827e0005"), "1002!"},
             Case{"by eight bytes", from_hex("827f000000000000ffff"), "1002!"},
             Case{"a negative length", from_hex("827fffffffffffffffff"), "1002!"},
             Case{"a large message", from_hex("827e03e9"), "1009!"},
             Case{"large fragments",
                  from_hex("027e0200") + std::string(512, 'x') + from_hex("807e01e9"), "1009!"},
             Case{"text that is none", from_hex("8102c328"), "1007!"},
             Case{"text that is none over fragments",
                  from_hex("0101c3"
                           "800128"),
                  "1007!"},
             Case{"text that is cut between fragments",
                  from_hex("0101c3"
                           "8001a4"),
                  "1=\xc3\xa4;"},
             Case{"binary is not text", from_hex("8202c328"), "2=\xc3\x28;"},
             Case{"half a close code", from_hex("880103"), "1002!"},
             Case{"a close code that is none", from_hex("880203e7"), "1002!"},
             Case{"a close code of nobody", from_hex("880203ed"), "1002!"},
             Case{"a reason that is not text", from_hex("880403e8c328"), "1007!"},
         })
        EXPECT_EQ(decoded(c.bytes, false), c.said) << c.what;
    EXPECT_EQ(decoded(from_hex("8100"), true), "1002!") << "a client without a mask";
    EXPECT_EQ(decoded(from_hex("827e03e8") + std::string(1000, 'x'), false).size(), 1003u)
        << "the largest message";
}

TEST(WebSocketFrames, WhatIsWrittenIsReadBack) {
    for (const std::size_t size : {0u, 1u, 125u, 126u, 65'535u, 65'536u, 70'000u}) {
        for (const bool masked : {false, true}) {
            const std::string payload(size, 'x');
            std::optional<WebSocketMask> mask;
            if (masked) mask = {1, 2, 3, 0xff};
            std::string sent = payload;
            if (mask) apply_mask(sent, *mask);
            WebSocketDecoder decoder(masked, 100'000);
            decoder.put(web_socket_frame_head(WebSocketOpcode::kBinary, size, mask) + sent);
            const auto event = decoder.next();
            ASSERT_TRUE(event && *event) << size;
            EXPECT_TRUE((*event)->bytes == payload) << size;
        }
    }
}

TEST(WebSocketFrames, Utf8IsJudgedToTheByte) {
    for (const char* good : {"", "a", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                             "\xee\x80\x80", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
        EXPECT_TRUE(is_utf8(good)) << good;
    for (const char* bad :
         {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x9f\xbf", "\xed\xa0\x80",
          "\xe1\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"})
        EXPECT_FALSE(is_utf8(bad)) << bad;
    EXPECT_EQ(close_payload(1000, std::string(122, 'x') + "\xc3\xa4").size(), 124u)
        << "no half character";
}

class WebSockets : public ServerFixture {
  protected:
    ~WebSockets() override {
        if (client_) await(client_->stop());
        stop();
    }
    /// Accepts all that ask, keeps them, and echoes what the first one sends.
    void start_sockets(std::vector<std::string> protocols, WebSocketOptions options = {}) {
        start([this, protocols, options](HttpExchange& exchange) -> Task<void> {
            return serve(exchange, protocols, options);
        });
        client_ = std::make_unique<HttpClient>(
            context.get_executor(), clock,
            [this]() -> Task<Result<std::unique_ptr<ByteStream>>> { return connect_client(); });
    }
    Task<Result<std::unique_ptr<ByteStream>>> connect_client() { co_return listener_->connect(); }
    Task<void> serve(HttpExchange& exchange, std::vector<std::string> protocols,
                     WebSocketOptions options) {
        auto socket = co_await accept_web_socket(exchange, std::move(protocols), options);
        if (!socket) co_return;
        WebSocket& accepted = **sockets_.insert(sockets_.end(), *std::move(socket));
        for (;;) {
            auto message = co_await accepted.read();
            if (!message) {
                failed_ = message.error().code();
                co_return;
            }
            if (!*message) co_return;
            if (!co_await accepted.write((*message)->text, (*message)->bytes)) co_return;
        }
    }
    Result<std::unique_ptr<WebSocket>> connect_socket(std::vector<std::string> protocols) {
        HttpRequest request;
        request.target = "/exec";
        return await(
            connect_web_socket(*client_, std::move(request), std::move(protocols), 5s, {}));
    }
    std::string answer_to(std::string fields, std::string line = "GET /x HTTP/1.1") {
        return conversation(line + "\r\nHost: h\r\n" + fields + "\r\n");
    }

    std::vector<std::unique_ptr<WebSocket>> sockets_;
    std::unique_ptr<HttpClient> client_;
    std::optional<Code> failed_;
};

const std::string kAsk =
    "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

TEST_F(WebSockets, TheHandshakeIsThatOfTheStandard) {
    start_sockets({"v5", "v4"});
    auto stream = connect();
    send(*stream, "GET /x HTTP/1.1\r\nHost: h\r\n" + kAsk +
                      "Sec-WebSocket-Protocol: v6, v4\r\nSec-WebSocket-Protocol: v5\r\n\r\n");
    const std::string head = await(read_until(*stream, "\r\n\r\n"));
    EXPECT_TRUE(head.starts_with("HTTP/1.1 101 ")) << head;
    EXPECT_EQ(count(head, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), 1u) << head;
    EXPECT_EQ(count(head, "Sec-WebSocket-Protocol: v4\r\n"), 1u) << "the client's first";
}

TEST_F(WebSockets, RequestsThatAreNoneAreRefused) {
    start_sockets({"v5"});
    const auto without = [](std::string_view name) {
        std::string fields = kAsk;
        const std::size_t at = fields.find(name);
        fields.erase(at, fields.find("\r\n", at) + 2 - at);
        return fields + "Connection: close\r\n";
    };
    const std::string close = "Connection: close\r\n";
    const std::tuple<const char*, std::string, int> cases[] = {
        {"no upgrade", answer_to(without("Upgrade: ")), 400},
        {"no connection", answer_to(without("Connection: ")), 400},
        {"no key", answer_to(without("Sec-WebSocket-Key: ")), 400},
        {"no version", answer_to(without("Sec-WebSocket-Version: ")), 426},
        {"another version",
         answer_to(without("Sec-WebSocket-Version: ") + "Sec-WebSocket-Version: 8\r\n"), 426},
        {"a short key", answer_to(without("Sec-WebSocket-Key: ") + "Sec-WebSocket-Key: aGk=\r\n"),
         400},
        {"a key that is not base64",
         answer_to(without("Sec-WebSocket-Key: ") +
                   "Sec-WebSocket-Key: !!!!!!!!!!!!!!!!!!!!!!==\r\n"),
         400},
        {"two keys", answer_to(kAsk + close + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"),
         400},
        {"a POST", answer_to(kAsk + close + "Content-Length: 0\r\n", "POST /x HTTP/1.1"), 400},
        {"other protocols", answer_to(kAsk + close + "Sec-WebSocket-Protocol: v1, v55\r\n"), 400},
    };
    for (const auto& [what, answer, status] : cases)
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 " + std::to_string(status))) << what << "\n"
                                                                              << answer;
    EXPECT_EQ(count(std::get<1>(cases[3]), "Sec-WebSocket-Version: 13\r\n"), 1u);
}

TEST_F(WebSockets, MessagesGoBothWays) {
    start_sockets({"v5", "v4"});
    auto near = connect_socket({"v4", "v5"});
    ASSERT_TRUE(near) << near.error().message();
    EXPECT_EQ((*near)->protocol(), "v4");
    for (const std::string& bytes : {""s, "hello"s, std::string(300'000, 'x')}) {
        for (const bool text : {true, false}) {
            // More than the stream holds: both sides read while they write.
            std::optional<Result<void>> written;
            asio::co_spawn(context, (*near)->write(text, bytes),
                           [&](std::exception_ptr, Result<void> result) { written = result; });
            const auto message = await((*near)->read());
            ASSERT_TRUE(message && *message);
            EXPECT_EQ((*message)->text, text);
            EXPECT_TRUE((*message)->bytes == bytes);
            ASSERT_TRUE(written && *written);
        }
    }
    ASSERT_TRUE(await((*near)->ping("are you there")));
    ASSERT_TRUE(await((*near)->write(true, "after")));
    EXPECT_EQ((**await((*near)->read())).bytes, "after") << "the answer to a ping is not a message";
    await((*near)->heard());
}

TEST_F(WebSockets, FarewellsAreAnswered) {
    start_sockets({});
    auto near = connect_socket({});
    ASSERT_TRUE(near) << near.error().message();
    ASSERT_TRUE(await((*near)->close(3001, "done")));
    EXPECT_EQ(*await((*near)->read()), std::nullopt);
    EXPECT_EQ((*near)->closed()->code, 3001);
    EXPECT_EQ(sockets_.at(0)->closed()->reason, "done");
    EXPECT_EQ(await((*near)->write(true, "x")).error().code(), Code::kUnavailable);
    EXPECT_TRUE(await((*near)->close(1000, ""))) << "once is enough";
}

TEST_F(WebSockets, WhatIsTooMuchOrBrokenEndsTheConnection) {
    start_sockets({}, {.message_bytes = 100});
    auto near = connect_socket({});
    ASSERT_TRUE(near);
    ASSERT_TRUE(await((*near)->write(false, std::string(101, 'x'))));
    EXPECT_EQ(*await((*near)->read()), std::nullopt);
    EXPECT_EQ((*near)->closed()->code, 1009);
    EXPECT_EQ(failed_, Code::kBadRequest);
    auto gone = connect_socket({});
    ASSERT_TRUE(gone);
    failed_.reset();
    gone->reset();
    settle();
    EXPECT_EQ(failed_, Code::kUnavailable) << "an end without a farewell";
}

TEST_F(WebSockets, AClientIsToldWhyThereIsNone) {
    start([](HttpExchange& exchange) -> Task<void> {
        exchange.respond(403, {}, "not you");
        co_return;
    });
    client_ = std::make_unique<HttpClient>(
        context.get_executor(), clock,
        [this]() -> Task<Result<std::unique_ptr<ByteStream>>> { return connect_client(); });
    const auto refused = connect_socket({});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code(), Code::kForbidden);
    EXPECT_NE(refused.error().message().find("not you"), std::string::npos);
}

}  // namespace
}  // namespace muster::net::web_socket_test
