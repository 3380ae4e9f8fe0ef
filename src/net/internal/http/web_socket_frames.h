#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace muster::net {

enum class WebSocketOpcode : std::uint8_t {
    kContinuation = 0,
    kText = 1,
    kBinary = 2,
    kClose = 8,
    kPing = 9,
    kPong = 10,
};

using WebSocketMask = std::array<std::uint8_t, 4>;

/// What the other side did wrong, and the close code that says so.
struct WebSocketViolation {
    std::uint16_t code;
    std::string reason;
};

/// A whole message, or a control frame.
struct WebSocketEvent {
    WebSocketOpcode kind = WebSocketOpcode::kBinary;
    std::string bytes;             ///< the reason, for a close frame
    std::uint16_t close_code = 0;  ///< for a close frame; 1005 if it has none
};

/// Turns bytes into messages and checks them: masks as the direction demands, lengths in their
/// shortest form, fragments in order, text in UTF-8, no message over the limit.
class WebSocketDecoder {
  public:
    /// `masked`: the bytes come from a client.
    WebSocketDecoder(bool masked, std::size_t message_limit)
        : masked_(masked), message_limit_(message_limit) {}

    void put(std::string_view bytes) { pending_.append(bytes); }
    /// The next event, or nullopt if more bytes are needed. Nothing follows a violation or a close
    /// frame.
    std::expected<std::optional<WebSocketEvent>, WebSocketViolation> next();

  private:
    struct Frame {
        bool final = false;
        WebSocketOpcode opcode = WebSocketOpcode::kContinuation;
        std::size_t payload_at = 0;
        std::size_t payload_size = 0;
        std::optional<WebSocketMask> mask;
    };
    std::expected<std::optional<Frame>, WebSocketViolation> head(std::string_view bytes) const;
    std::expected<Frame, WebSocketViolation> begin(std::uint8_t first, std::uint8_t second) const;
    std::expected<std::optional<WebSocketEvent>, WebSocketViolation> take(const Frame& frame,
                                                                          std::string payload);

    bool masked_;
    std::size_t message_limit_;
    std::string pending_;
    std::size_t at_ = 0;  // everything before it was taken
    /// A message whose last fragment has not arrived.
    std::optional<WebSocketOpcode> open_;
    std::string message_;
    bool over_ = false;
};

/// The bytes before a payload. `mask` is for a client, whose payload goes through apply_mask().
std::string web_socket_frame_head(WebSocketOpcode opcode, std::size_t payload_size,
                                  const std::optional<WebSocketMask>& mask);
/// Masks and unmasks.
void apply_mask(std::string& payload, const WebSocketMask& mask);

/// The payload of a close frame, cut to what a control frame holds.
std::string close_payload(std::uint16_t code, std::string_view reason);
/// Whether a close frame may carry this code.
bool is_valid_close_code(std::uint16_t code);

}  // namespace muster::net
