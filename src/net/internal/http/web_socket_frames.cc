#include "net/internal/http/web_socket_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace muster::net {

namespace {

constexpr std::uint16_t kProtocolError = 1002;
constexpr std::uint16_t kInvalidText = 1007;
constexpr std::uint16_t kTooBig = 1009;
constexpr std::uint16_t kNoCode = 1005;
constexpr std::size_t kMaxControl = 125;

std::unexpected<WebSocketViolation> violation(std::uint16_t code, std::string reason) {
    return std::unexpected(WebSocketViolation{.code = code, .reason = std::move(reason)});
}

std::uint8_t byte_at(std::string_view bytes, std::size_t at) {
    return static_cast<std::uint8_t>(bytes[at]);
}

bool is_control(WebSocketOpcode opcode) { return static_cast<std::uint8_t>(opcode) >= 8; }

bool is_known(std::uint8_t opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

/// How many bytes the payload's size takes after the first two, which hold it themselves below 126.
std::size_t bytes_of_length(std::size_t said) { return said == 126 ? 2 : said == 127 ? 8 : 0; }

/// Nothing if it is not in its shortest form, or over the limit of the protocol.
std::optional<std::uint64_t> long_length(std::string_view bytes) {
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) length = length << 8 | byte_at(bytes, i);
    if (length < (bytes.size() == 2 ? 126u : 0x10000u) || length >> 63 != 0) return std::nullopt;
    return length;
}

}  // namespace

bool is_valid_close_code(std::uint16_t code) {
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
           (code >= 3000 && code <= 4999);
}

/// A frame by its first two bytes. The size of its payload may mean that the real one follows.
std::expected<WebSocketDecoder::Frame, WebSocketViolation> WebSocketDecoder::begin(
    std::uint8_t first, std::uint8_t second) const {
    if ((first & 0x70) != 0) return violation(kProtocolError, "a reserved bit is set");
    if (!is_known(first & 0x0f)) return violation(kProtocolError, "an unknown kind of frame");
    Frame frame;
    frame.final = (first & 0x80) != 0;
    frame.opcode = static_cast<WebSocketOpcode>(first & 0x0f);
    frame.payload_size = second & 0x7f;
    if (((second & 0x80) != 0) != masked_)
        return violation(kProtocolError, masked_ ? "a client's frame without a mask"
                                                 : "a server's frame with a mask");
    if (is_control(frame.opcode)) {
        if (!frame.final || frame.payload_size > kMaxControl)
            return violation(kProtocolError, "a control frame in fragments or of over 125 bytes");
        return frame;
    }
    const bool continues = frame.opcode == WebSocketOpcode::kContinuation;
    if (continues != open_.has_value())
        return violation(kProtocolError,
                         continues ? "a continuation of nothing" : "a message within another");
    return frame;
}

std::expected<std::optional<WebSocketDecoder::Frame>, WebSocketViolation> WebSocketDecoder::head(
    std::string_view bytes) const {
    if (bytes.size() < 2) return std::nullopt;
    auto begun = begin(byte_at(bytes, 0), byte_at(bytes, 1));
    if (!begun) return std::unexpected(std::move(begun.error()));
    Frame frame = *std::move(begun);
    const std::size_t more = bytes_of_length(frame.payload_size);
    const std::size_t head_size = 2 + more + (masked_ ? 4 : 0);
    if (bytes.size() < 2 + more) return std::nullopt;
    if (more > 0) {
        const std::optional<std::uint64_t> size = long_length(bytes.substr(2, more));
        if (!size) return violation(kProtocolError, "a length that is not in its shortest form");
        frame.payload_size = static_cast<std::size_t>(*size);
    }
    // message_ never exceeds the limit, so this does not wrap.
    if (!is_control(frame.opcode) && frame.payload_size > message_limit_ - message_.size())
        return violation(kTooBig, fmt::format("a message of over {} bytes", message_limit_));
    if (bytes.size() < head_size) return std::nullopt;
    if (masked_) {
        frame.mask.emplace();
        for (std::size_t i = 0; i < 4; ++i) (*frame.mask)[i] = byte_at(bytes, 2 + more + i);
    }
    frame.payload_at = head_size;
    return frame;
}

std::expected<std::optional<WebSocketEvent>, WebSocketViolation> WebSocketDecoder::take(
    const Frame& frame, std::string payload) {
    WebSocketEvent event{.kind = frame.opcode, .bytes = {}, .close_code = 0};
    if (frame.opcode == WebSocketOpcode::kClose) {
        over_ = true;
        event.close_code = kNoCode;
        if (payload.empty()) return event;
        if (payload.size() < 2) return violation(kProtocolError, "half a close code");
        event.close_code =
            static_cast<std::uint16_t>(byte_at(payload, 0) << 8 | byte_at(payload, 1));
        if (!is_valid_close_code(event.close_code))
            return violation(kProtocolError, fmt::format("the close code {}", event.close_code));
        event.bytes = payload.substr(2);
        if (!is_utf8(event.bytes)) return violation(kInvalidText, "a reason that is not UTF-8");
        return event;
    }
    if (is_control(frame.opcode)) {
        event.bytes = std::move(payload);
        return event;
    }
    if (frame.opcode != WebSocketOpcode::kContinuation) open_ = frame.opcode;
    if (message_.empty()) {
        message_ = std::move(payload);
    } else {
        message_ += payload;
    }
    if (!frame.final) return std::nullopt;
    event.kind = *std::exchange(open_, std::nullopt);
    event.bytes = std::exchange(message_, {});
    if (event.kind == WebSocketOpcode::kText && !is_utf8(event.bytes))
        return violation(kInvalidText, "a text that is not UTF-8");
    return event;
}

std::expected<std::optional<WebSocketEvent>, WebSocketViolation> WebSocketDecoder::next() {
    while (!over_) {
        const std::string_view bytes = std::string_view(pending_).substr(at_);
        const auto frame = head(bytes);
        if (!frame) {
            over_ = true;
            return std::unexpected(frame.error());
        }
        if (!*frame || bytes.size() - (*frame)->payload_at < (*frame)->payload_size) {
            pending_.erase(0, std::exchange(at_, 0));
            return std::nullopt;
        }
        std::string payload(bytes.substr((*frame)->payload_at, (*frame)->payload_size));
        at_ += (*frame)->payload_at + (*frame)->payload_size;
        if ((*frame)->mask) apply_mask(payload, *(*frame)->mask);
        auto event = take(**frame, std::move(payload));
        if (!event) over_ = true;
        if (!event || *event) return event;
    }
    return std::nullopt;
}

std::string web_socket_frame_head(WebSocketOpcode opcode, std::size_t payload_size,
                                  const std::optional<WebSocketMask>& mask) {
    std::string head(1, static_cast<char>(0x80 | static_cast<std::uint8_t>(opcode)));
    const int masked = mask ? 0x80 : 0;
    const auto append_size = [&](int bytes) {
        for (int i = bytes - 1; i >= 0; --i)
            head += static_cast<char>(static_cast<std::uint64_t>(payload_size) >> (8 * i) & 0xff);
    };
    if (payload_size <= kMaxControl) {
        head += static_cast<char>(masked | static_cast<int>(payload_size));
    } else if (payload_size <= 0xffff) {
        head += static_cast<char>(masked | 126);
        append_size(2);
    } else {
        head += static_cast<char>(masked | 127);
        append_size(8);
    }
    if (mask)
        for (const std::uint8_t byte : *mask) head += static_cast<char>(byte);
    return head;
}

void apply_mask(std::string& payload, const WebSocketMask& mask) {
    for (std::size_t i = 0; i < payload.size(); ++i)
        payload[i] = static_cast<char>(static_cast<std::uint8_t>(payload[i]) ^ mask[i % 4]);
}

std::string close_payload(std::uint16_t code, std::string_view reason) {
    std::string payload{static_cast<char>(code >> 8), static_cast<char>(code & 0xff)};
    reason = reason.substr(0, kMaxControl - 2);
    while (!reason.empty() && !is_utf8(reason)) reason.remove_suffix(1);  // a character was cut
    return payload.append(reason);
}

}  // namespace muster::net
