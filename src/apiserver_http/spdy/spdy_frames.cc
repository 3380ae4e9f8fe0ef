#include "apiserver_http/spdy/spdy_frames.h"

#include <fmt/format.h>

#include "base/check.h"

namespace muster::apiserver_http {

namespace {

constexpr std::uint32_t kControl = 0x8000'0000;
constexpr std::uint32_t kVersion = 3;
constexpr std::uint32_t kStreamMask = 0x7fff'ffff;
constexpr std::uint8_t kFin = 1;
constexpr std::size_t kHead = 8;

enum Type : std::uint32_t {
    kSynStream = 1,
    kSynReply = 2,
    kRstStream = 3,
    kSettings = 4,
    kPing = 6,
    kGoAway = 7,
    kHeaders = 8,
    kWindowUpdate = 9,
};

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i)
        value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
    return value;
}

void append_number(std::string& to, std::uint32_t number) {
    for (const int shift : {24, 16, 8, 0}) to += static_cast<char>(number >> shift & 0xff);
}

std::string frame(std::uint32_t head, std::uint8_t flags, std::string_view body) {
    CHECK(body.size() <= 0xff'ffff, "more than a frame of SPDY holds");
    std::string bytes;
    bytes.reserve(kHead + body.size());
    append_number(bytes, head);
    append_number(bytes, std::uint32_t{flags} << 24 | static_cast<std::uint32_t>(body.size()));
    bytes += body;
    return bytes;
}

std::string control_frame(Type type, std::string_view body, std::uint8_t flags = 0) {
    return frame(kControl | kVersion << 16 | type, flags, body);
}

/// The bytes before a frame's header block, or the minimum of a frame without one.
std::size_t least_size(std::uint32_t type) {
    switch (type) {
        case kSynStream:
            return 10;
        case kRstStream:
        case kGoAway:
        case kWindowUpdate:
            return 8;
        case kSettings:
        case kPing:
        case kHeaders:
        case kSynReply:
            return 4;
        default:
            return 0;
    }
}

}  // namespace

std::expected<std::optional<SpdyFrame>, std::string> SpdyDecoder::next() {
    const std::string_view bytes = std::string_view(pending_).substr(at_);
    if (bytes.size() < kHead) return std::nullopt;
    const std::uint32_t head = number_at(bytes, 0);
    const std::uint32_t second = number_at(bytes, 4);
    const auto flags = static_cast<std::uint8_t>(second >> 24);
    const std::size_t size = second & 0xff'ffff;
    const bool is_control = (head & kControl) != 0;
    if (size > (is_control ? kMaxControl : kMaxData))
        return std::unexpected(fmt::format("a frame of {} bytes", size));
    if (bytes.size() < kHead + size) return std::nullopt;
    const std::string_view body = bytes.substr(kHead, size);
    std::expected<SpdyFrame, std::string> made;
    if (is_control) {
        made = control(head, flags, body);
    } else {
        made = SpdyFrame{.kind = SpdyFrame::Kind::kData,
                         .stream = head,
                         .last = (flags & kFin) != 0,
                         .headers = {},
                         .data = std::string(body)};
    }
    at_ += kHead + size;
    if (at_ == pending_.size()) {
        pending_.clear();
        at_ = 0;
    } else if (at_ > pending_.size() / 2) {
        pending_.erase(0, at_);
        at_ = 0;
    }
    if (!made) return std::unexpected(std::move(made.error()));
    return *std::move(made);
}

std::expected<SpdyFrame, std::string> SpdyDecoder::control(std::uint32_t head, std::uint8_t flags,
                                                           std::string_view body) {
    const std::uint32_t version = head >> 16 & 0x7fff;
    const std::uint32_t type = head & 0xffff;
    if (version != kVersion) return std::unexpected(fmt::format("version {} of SPDY", version));
    if (body.size() < least_size(type))
        return std::unexpected(fmt::format("a frame of type {} that is cut short", type));
    SpdyFrame frame;
    if (type == kPing) {
        frame.kind = SpdyFrame::Kind::kPing;
        frame.number = number_at(body, 0);
        return frame;
    }
    if (type == kGoAway) {
        frame.kind = SpdyFrame::Kind::kGoAway;
        return frame;
    }
    if (type == kSettings || least_size(type) == 0) return frame;
    frame.stream = number_at(body, 0) & kStreamMask;
    frame.last = (flags & kFin) != 0;
    if (type == kRstStream) {
        frame.kind = SpdyFrame::Kind::kReset;
    } else if (type != kWindowUpdate) {
        auto headers = headers_.read(body.substr(least_size(type)));
        if (!headers) return std::unexpected(std::move(headers.error()));
        frame.headers = *std::move(headers);
        if (type == kSynStream) frame.kind = SpdyFrame::Kind::kOpen;
        if (type == kHeaders) frame.kind = SpdyFrame::Kind::kHeaders;
    }
    return frame;
}

std::string SpdyEncoder::open(std::uint32_t stream, const SpdyHeaders& headers, bool last) {
    constexpr std::string_view kNoPriority("\0\0", 2);
    std::string body;
    append_number(body, stream);
    append_number(body, 0);  // it belongs to no other stream
    body += kNoPriority;
    body += headers_.write(headers);
    return control_frame(kSynStream, body, last ? kFin : 0);
}

std::string SpdyEncoder::reply(std::uint32_t stream) {
    std::string body;
    append_number(body, stream);
    body += headers_.write({});
    return control_frame(kSynReply, body);
}

std::string SpdyEncoder::data(std::uint32_t stream, std::string_view bytes, bool last) {
    return frame(stream, last ? kFin : 0, bytes);
}

std::string SpdyEncoder::reset(std::uint32_t stream, std::uint32_t status) {
    std::string body;
    append_number(body, stream);
    append_number(body, status);
    return control_frame(kRstStream, body);
}

std::string SpdyEncoder::ping(std::uint32_t number) {
    std::string body;
    append_number(body, number);
    return control_frame(kPing, body);
}

}  // namespace muster::apiserver_http
