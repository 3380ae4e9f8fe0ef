#include "net/http/web_socket.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "base/async/signal.h"
#include "base/check.h"
#include "base/lower_case.h"
#include "base/utf8.h"
#include "net/internal/http/web_socket_frames.h"
#include "net/internal/tls/openssl.h"
#include "net/tls/certificates.h"

namespace muster::net {

namespace {

constexpr std::size_t kBuffer = std::size_t{16} * 1024;
constexpr std::size_t kMaxPing = 125;

/// 16 bytes in base64.
bool is_key(std::string_view key) {
    std::array<unsigned char, 18> bytes{};
    return key.size() == 24 && key.ends_with("==") && key.find('=') == 22 &&
           EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(key.data()), 24) ==
               18;
}

/// Proves that a server understood the key (RFC 6455, section 4.2.2).
Result<std::string> accept_value(std::string_view key) {
    const std::string text = std::string(key) + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr) != 1)
        return openssl_error(Code::kInternal, "SHA-1");
    return base64({reinterpret_cast<const char*>(digest.data()), size});
}

class WebSocketOverStream final : public WebSocket {
  public:
    WebSocketOverStream(const asio::any_io_executor& executor, std::unique_ptr<ByteStream> stream,
                        bool is_client, std::string protocol, WebSocketOptions options)
        : stream_(std::move(stream)),
          is_client_(is_client),
          protocol_(std::move(protocol)),
          decoder_(!is_client, options.message_bytes),
          sent_(executor),
          heard_first_(executor) {}

    Task<Result<std::optional<WebSocketMessage>>> read() override {
        for (;;) {
            if (closed_) co_return std::nullopt;
            if (broken_) co_return *broken_;
            auto event = decoder_.next();
            if (!event) {
                broken_ = Error(Code::kBadRequest,
                                fmt::format("{} broke the WebSocket protocol: {}",
                                            stream_->peer_address(), event.error().reason));
                // It makes no difference if this does not arrive.
                (void)co_await close(event.error().code, event.error().reason);
                continue;
            }
            if (!*event) {
                CO_TRY_VOID(co_await receive());
                continue;
            }
            if (!std::exchange(heard_, true)) heard_first_.notify_all();
            switch ((*event)->kind) {
                case WebSocketOpcode::kText:
                case WebSocketOpcode::kBinary:
                    co_return WebSocketMessage{.text = (*event)->kind == WebSocketOpcode::kText,
                                               .bytes = std::move((*event)->bytes)};
                case WebSocketOpcode::kPing:
                    pong_ = std::move((*event)->bytes);
                    // An active writer sends it after its own frame; only the newest counts.
                    if (!sending_ && !farewell_said_ && !cut_) CO_TRY_VOID(co_await send_pong());
                    break;
                case WebSocketOpcode::kClose: {
                    const std::uint16_t code = (*event)->close_code;
                    (void)co_await close(code == 1005 ? 1000 : code, "");
                    closed_ = {.code = code, .reason = std::move((*event)->bytes)};
                    break;
                }
                case WebSocketOpcode::kPong:
                case WebSocketOpcode::kContinuation:
                    break;
            }
        }
    }

    Task<Result<void>> write(bool text, std::string_view bytes) override {
        CHECK(!text || is_utf8(bytes), "text that is not UTF-8");
        return send(text ? WebSocketOpcode::kText : WebSocketOpcode::kBinary, bytes);
    }

    Task<Result<void>> ping(std::string bytes) override {
        CHECK(bytes.size() <= kMaxPing, "a ping of more than a control frame holds");
        co_return co_await send(WebSocketOpcode::kPing, bytes);
    }

    Task<void> heard() override {
        while (!heard_) co_await heard_first_.wait();
    }

    Task<Result<void>> close(std::uint16_t code, std::string reason) override {
        CHECK(is_valid_close_code(code), "a close code that can't be sent");
        if (farewell_said_) co_return Result<void>();
        const std::string payload = close_payload(code, reason);
        Result<void> sent = co_await send(WebSocketOpcode::kClose, payload);
        co_return sent;
    }

    const std::string& protocol() const override { return protocol_; }
    const std::optional<WebSocketClose>& closed() const override { return closed_; }

  private:
    Task<Result<void>> receive() {
        if (buffer_.empty()) buffer_.resize(kBuffer);
        CO_TRY(const std::size_t size, co_await stream_->read_some(asio::buffer(buffer_)));
        if (size == 0)
            co_return Error(Code::kUnavailable, fmt::format("{} ended the WebSocket without a word",
                                                            stream_->peer_address()));
        decoder_.put({buffer_.data(), size});
        co_return Result<void>();
    }

    /// Frames of reader and writer are sent one after the other.
    Task<Result<void>> send(WebSocketOpcode opcode, std::string_view payload) {
        while (sending_) co_await sent_.wait();
        if (farewell_said_ || cut_) co_return Error(Code::kUnavailable, "the WebSocket was closed");
        struct End {
            explicit End(WebSocketOverStream& socket) : self(socket) { self.sending_ = true; }
            ~End() {
                self.sending_ = false;
                self.sent_.notify_all();
            }
            End(const End&) = delete;
            End& operator=(const End&) = delete;
            WebSocketOverStream& self;
        } const end(*this);
        cut_ = true;  // and stays so on failure or cancellation: part of a frame may be out
        if (opcode == WebSocketOpcode::kClose) farewell_said_ = true;
        CO_TRY_VOID(co_await send_frame(opcode, payload));
        while (pong_ && !farewell_said_) {
            const std::string answer = *std::exchange(pong_, std::nullopt);
            CO_TRY_VOID(co_await send_frame(WebSocketOpcode::kPong, answer));
        }
        cut_ = false;
        co_return Result<void>();
    }

    Task<Result<void>> send_pong() {
        const std::string answer = *std::exchange(pong_, std::nullopt);
        co_return co_await send(WebSocketOpcode::kPong, answer);
    }

    Task<Result<void>> send_frame(WebSocketOpcode opcode, std::string_view payload) {
        std::optional<WebSocketMask> mask;
        std::string masked;
        if (is_client_) {
            CO_TRY(const std::string random, random_bytes(4));
            mask.emplace();
            std::copy(random.begin(), random.end(), mask->begin());
            masked = payload;
            apply_mask(masked, *mask);
            payload = masked;
        }
        const std::string head = web_socket_frame_head(opcode, payload.size(), mask);
        co_return co_await stream_->write({asio::buffer(head), asio::buffer(payload)});
    }

    std::unique_ptr<ByteStream> stream_;
    bool is_client_;
    std::string protocol_;
    WebSocketDecoder decoder_;
    std::vector<char> buffer_;
    std::optional<std::string> pong_;  // to be sent
    std::optional<WebSocketClose> closed_;
    std::optional<Error> broken_;
    bool sending_ = false;
    bool farewell_said_ = false;
    bool cut_ = false;  // part of a frame may have been sent: nothing can follow
    Signal sent_;
    bool heard_ = false;
    Signal heard_first_;
};

std::string joined(const std::vector<std::string>& protocols) {
    return fmt::format("{}", fmt::join(protocols, ", "));
}

Error error_of(const HttpResponse& response) {
    Code code = Code::kBadRequest;
    if (response.status == 401) code = Code::kUnauthorized;
    if (response.status == 403) code = Code::kForbidden;
    if (response.status == 404) code = Code::kNotFound;
    return Error(code, fmt::format("not a WebSocket: {} {} {}", response.status,
                                   reason_phrase(response.status), response.body));
}

}  // namespace

bool asks_for_web_socket(const HttpRequest& request) {
    return request.headers.has_token("Connection", "upgrade") &&
           request.headers.has_token("Upgrade", "websocket");
}

Result<WebSocketAcceptance> judge_web_socket(const HttpRequest& request,
                                             const std::vector<std::string>& protocols) {
    if (request.method != "GET" || request.minor_version < 1 || !asks_for_web_socket(request))
        return Error(Code::kBadRequest,
                     "this is not a request for a WebSocket: a GET of HTTP/1.1 with "
                     "\"Connection: Upgrade\" and \"Upgrade: websocket\"");
    if (request.headers.find("Sec-WebSocket-Version") != "13")
        return Error(Code::kUnsupported, "only version 13 of WebSocket is served");
    const auto key = request.headers.find("Sec-WebSocket-Key");
    if (!key || request.headers.count("Sec-WebSocket-Key") != 1 || !is_key(*key))
        return Error(Code::kBadRequest, "Sec-WebSocket-Key is not 16 bytes in base64");
    TRY(const std::string accept, accept_value(*key));
    WebSocketAcceptance acceptance;
    acceptance.headers = {
        {"Upgrade", "websocket"}, {"Connection", "Upgrade"}, {"Sec-WebSocket-Accept", accept}};
    bool offered = false;
    for (const HttpHeader field : request.headers) {
        if (!equal_without_case(field.name, "Sec-WebSocket-Protocol")) continue;
        offered = true;
        std::string_view rest = field.value;
        while (!rest.empty() && acceptance.protocol.empty()) {
            const std::size_t comma = rest.find(',');
            std::string_view name = rest.substr(0, comma);
            rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
            while (name.starts_with(' ') || name.starts_with('\t')) name.remove_prefix(1);
            while (name.ends_with(' ') || name.ends_with('\t')) name.remove_suffix(1);
            if (std::ranges::find(protocols, name) != protocols.end()) acceptance.protocol = name;
        }
    }
    if (!acceptance.protocol.empty()) {
        acceptance.headers.add("Sec-WebSocket-Protocol", acceptance.protocol);
    } else if (offered && !protocols.empty()) {
        return Error(Code::kBadRequest,
                     fmt::format("none of the offered protocols is served; those are: {}",
                                 joined(protocols)));
    }
    return acceptance;
}

Task<Result<std::unique_ptr<WebSocket>>> accept_web_socket(HttpExchange& exchange,
                                                           std::vector<std::string> protocols,
                                                           WebSocketOptions options) {
    auto acceptance = judge_web_socket(exchange.request(), protocols);
    if (!acceptance) {
        const bool version = acceptance.error().code() == Code::kUnsupported;
        HttpHeaders headers{{"Content-Type", "text/plain"}};
        if (version) headers.add("Sec-WebSocket-Version", "13");
        exchange.respond(version ? 426 : 400, std::move(headers),
                         acceptance.error().message() + "\n");
        co_return acceptance.error();
    }
    CO_TRY(auto stream, co_await exchange.upgrade(std::move(acceptance->headers)));
    co_return std::make_unique<WebSocketOverStream>(co_await asio::this_coro::executor,
                                                    std::move(stream), false,
                                                    std::move(acceptance->protocol), options);
}

Task<Result<WebSocketAnswer>> ask_for_web_socket(HttpClient& client, HttpRequest request,
                                                 std::vector<std::string> protocols, Duration time,
                                                 WebSocketOptions options) {
    CO_TRY(const std::string random, random_bytes(16));
    const std::string key = base64(random);
    CO_TRY(const std::string accept, accept_value(key));
    request.method = "GET";
    request.headers.set("Connection", "Upgrade");
    request.headers.set("Upgrade", "websocket");
    request.headers.set("Sec-WebSocket-Version", "13");
    request.headers.set("Sec-WebSocket-Key", key);
    if (!protocols.empty()) request.headers.set("Sec-WebSocket-Protocol", joined(protocols));
    CO_TRY(HttpUpgrade upgrade, co_await client.upgrade(std::move(request), time));
    if (!upgrade.stream)
        co_return WebSocketAnswer{.socket = nullptr, .refusal = std::move(upgrade.response)};
    const HttpResponse& response = upgrade.response;
    if (!response.headers.has_token("Upgrade", "websocket") ||
        !response.headers.has_token("Connection", "upgrade") ||
        response.headers.find("Sec-WebSocket-Accept") != accept)
        co_return Error(Code::kBadRequest, "the server's answer is not that of a WebSocket");
    const std::string protocol(response.headers.find("Sec-WebSocket-Protocol").value_or(""));
    if (!protocol.empty() && std::ranges::find(protocols, protocol) == protocols.end())
        co_return Error(
            Code::kBadRequest,
            fmt::format("the server chose a protocol that was not offered: {}", protocol));
    co_return WebSocketAnswer{
        .socket = std::make_unique<WebSocketOverStream>(
            co_await asio::this_coro::executor, std::move(upgrade.stream), true, protocol, options),
        .refusal = {}};
}

Task<Result<std::unique_ptr<WebSocket>>> connect_web_socket(HttpClient& client, HttpRequest request,
                                                            std::vector<std::string> protocols,
                                                            Duration time,
                                                            WebSocketOptions options) {
    CO_TRY(WebSocketAnswer answer,
           co_await ask_for_web_socket(client, std::move(request), std::move(protocols), time,
                                       options));
    if (!answer.socket) co_return error_of(answer.refusal);
    co_return std::move(answer.socket);
}

}  // namespace muster::net
