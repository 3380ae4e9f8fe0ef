#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/test_growth.h"
#include "net/internal/http/http_parser.h"
#include "net/internal/http/web_socket_frames.h"

// What the other side of a connection sends is read in proportion to its size, however it is cut.
// The limits of heads and bodies are far away here: they are there for memory, and not for this.

namespace muster::net::http_growth_test {
namespace {

constexpr HttpMessageLimits kFar{.head = std::size_t{1} << 30, .body = std::size_t{1} << 30};
constexpr std::size_t kPiece = 100;

std::string line(std::string_view fields) {
    return fmt::format("POST / HTTP/1.1\r\nHost: h\r\n{}\r\n", fields);
}
std::string many_fields(std::size_t size) {
    return line(repeated(size, [](std::size_t i) { return fmt::format("x{}: y\r\n", i); }));
}
std::string one_field(std::size_t size) {
    return line(fmt::format("x: {}\r\n", std::string(10 * size, 'x')));
}
std::string long_target(std::size_t size) {
    return "GET /" + std::string(10 * size, '/') + " HTTP/1.1\r\nHost: h\r\n\r\n";
}
std::string many_chunks(std::size_t size) {
    return line("Transfer-Encoding: chunked\r\n") +
           repeated(size, [](std::size_t) { return std::string("1;a=b\r\nx\r\n"); }) + "0\r\n\r\n";
}
std::string body(std::size_t size) {
    return line(fmt::format("Content-Length: {}\r\n", 10 * size)) + std::string(10 * size, 'x');
}

/// As a connection does: what was not used comes again, with more behind it.
void request(std::string_view bytes) {
    HttpRequestParser parser(kFar);
    HttpRequest request;
    parser.begin(request);
    std::size_t used = 0;
    for (std::size_t end = 0; end < bytes.size() && !parser.done();) {
        end = std::min(end + kPiece, bytes.size());
        for (;;) {
            const auto taken = parser.put(bytes.substr(used, end - used));
            ASSERT_TRUE(taken) << taken.error().reason;
            used += *taken;
            if (*taken == 0 || parser.done()) break;
        }
    }
    ASSERT_TRUE(parser.done());
}

std::string frame(WebSocketOpcode opcode, bool last, std::string_view payload) {
    std::string bytes = web_socket_frame_head(opcode, payload.size(), std::nullopt);
    if (!last) bytes.front() = static_cast<char>(bytes.front() & 0x7f);
    return bytes.append(payload);
}
std::string many_messages(std::size_t size) {
    return repeated(size,
                    [](std::size_t) { return frame(WebSocketOpcode::kText, true, "\u00e9"); });
}
std::string many_fragments(std::size_t size) {
    return frame(WebSocketOpcode::kText, false, "x") +
           repeated(size,
                    [](std::size_t i) {
                        // A character may be cut, and pings may come in between.
                        return frame(WebSocketOpcode::kContinuation, false,
                                     i % 2 == 0 ? "\xc3" : "\xa9") +
                               frame(WebSocketOpcode::kPing, true, "p");
                    }) +
           frame(WebSocketOpcode::kContinuation, true, "x");
}
std::string one_message(std::size_t size) {
    return frame(WebSocketOpcode::kBinary, true, std::string(10 * size, 'x'));
}

void web_socket(std::string_view bytes) {
    WebSocketDecoder decoder(false, std::size_t{1} << 30);
    std::size_t count = 0;
    for (std::size_t at = 0; at < bytes.size(); at += kPiece) {
        decoder.put(bytes.substr(at, kPiece));
        for (;;) {
            const auto event = decoder.next();
            ASSERT_TRUE(event) << event.error().reason;
            if (!*event) break;
            ++count;
        }
    }
    ASSERT_GT(count, 0u);
}

/// All at once, as a client may send what the server has not read yet.
void frames_at_once(std::string_view bytes) {
    WebSocketDecoder decoder(false, std::size_t{1} << 30);
    decoder.put(bytes);
    for (;;) {
        const auto event = decoder.next();
        ASSERT_TRUE(event);
        if (!*event) break;
    }
}

class HttpGrowth : public ::testing::TestWithParam<GrowthCase> {};

TEST_P(HttpGrowth, IsLinear) { EXPECT_LE(growth_of(GetParam()), kLinearGrowth); }

INSTANTIATE_TEST_SUITE_P(
    Bytes, HttpGrowth,
    ::testing::Values(GrowthCase{"many_fields", many_fields, request, 2'000},
                      GrowthCase{"one_field", one_field, request, 20'000},
                      GrowthCase{"long_target", long_target, request, 20'000},
                      GrowthCase{"many_chunks", many_chunks, request, 5'000},
                      GrowthCase{"body", body, request, 20'000},
                      GrowthCase{"many_messages", many_messages, web_socket, 10'000},
                      GrowthCase{"many_fragments", many_fragments, web_socket, 5'000},
                      GrowthCase{"one_message", one_message, web_socket, 20'000},
                      GrowthCase{"messages_at_once", many_messages, frames_at_once, 10'000}),
    ::testing::PrintToStringParamName());

}  // namespace
}  // namespace muster::net::http_growth_test
