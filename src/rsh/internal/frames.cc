#include "rsh/internal/frames.h"

#include <fmt/format.h>

namespace muster::rsh {

namespace {

constexpr std::size_t kHead = 5;

void append_number(std::string& text, std::uint32_t number) {
    for (const int shift : {24, 16, 8, 0}) text.push_back(static_cast<char>(number >> shift));
}

/// The largest payload of a type; nullopt for an unknown type.
std::optional<std::size_t> most_of(std::uint8_t type) {
    switch (static_cast<FrameType>(type)) {
        case FrameType::kRequest:
            return kMostCommand + 1;
        case FrameType::kInput:
        case FrameType::kOutput:
        case FrameType::kErrors:
        case FrameType::kRefused:
            return kMostData;
        case FrameType::kInputEnd:
            return 0;
        case FrameType::kCredit:
            return 4;
        case FrameType::kExited:
        case FrameType::kKilled:
            return 1;
    }
    return std::nullopt;
}

}  // namespace

std::string frame_head(FrameType type, std::size_t size) {
    std::string head(1, static_cast<char>(type));
    append_number(head, static_cast<std::uint32_t>(size));
    return head;
}

std::string frame_text(FrameType type, std::string_view payload) {
    return frame_head(type, payload.size()).append(payload);
}

std::string credit_frame(std::uint32_t bytes) {
    std::string payload;
    append_number(payload, bytes);
    return frame_text(FrameType::kCredit, payload);
}

Result<std::optional<Frame>> FrameReader::next() {
    const std::string_view rest = std::string_view(bytes_).substr(at_);
    if (rest.size() < kHead) return std::optional<Frame>();
    const auto type = static_cast<std::uint8_t>(rest[0]);
    std::uint32_t size = 0;
    for (std::size_t i = 1; i < kHead; ++i) size = size << 8 | static_cast<std::uint8_t>(rest[i]);
    const std::optional<std::size_t> most = most_of(type);
    if (!most) return Error(Code::kInvalid, fmt::format("there is no frame of type {}", type));
    if (size > *most)
        return Error(Code::kInvalid, fmt::format("a frame of type {} has at most {} bytes, not {}",
                                                 type, *most, size));
    if (rest.size() - kHead < size) return std::optional<Frame>();
    Frame frame{static_cast<FrameType>(type), std::string(rest.substr(kHead, size))};
    at_ += kHead + size;
    // Consumed bytes are removed when everything is consumed, or when they outnumber the rest.
    if (at_ == bytes_.size() || at_ > kMostData) {
        bytes_.erase(0, at_);
        at_ = 0;
    }
    return std::optional<Frame>(std::move(frame));
}

}  // namespace muster::rsh
