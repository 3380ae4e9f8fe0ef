#include "apiserver_http/internal/protobuf/wire_reader.h"

#include <fmt/format.h>

namespace muster::apiserver_http {

Error WireReader::error(std::string_view what) const {
    return Error(Code::kBadRequest,
                 fmt::format("{} at offset {}", what, rest_.data() - whole_.data()));
}

Result<WireReader::Tag> WireReader::tag() {
    const std::string_view start = rest_;
    TRY(const std::uint64_t tag, varint());
    const std::uint64_t number = tag >> 3;
    constexpr std::uint64_t kMaxNumber = (1u << 29) - 1;
    if (number == 0 || number > kMaxNumber) {
        rest_ = start;
        return error("a field with no valid number");
    }
    const auto type = static_cast<WireType>(tag & 7);
    switch (type) {
        case WireType::kVarint:
        case WireType::kFixed64:
        case WireType::kBytes:
        case WireType::kFixed32:
            return Tag{static_cast<std::uint32_t>(number), type};
    }
    rest_ = start;
    return error(fmt::format("a field of the unknown wire type {}", tag & 7));
}

Result<std::uint64_t> WireReader::varint() {
    constexpr std::size_t kMaxBytes = 10;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < kMaxBytes; ++i) {
        if (i == rest_.size()) return error("the message ends inside of a number");
        const auto byte = static_cast<unsigned char>(rest_[i]);
        value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
        if ((byte & 0x80) != 0) continue;
        rest_.remove_prefix(i + 1);
        return value;
    }
    return error("a number of more than 64 bits");
}

Result<std::uint64_t> WireReader::fixed64() {
    if (rest_.size() < 8) return error("the message ends inside of a number");
    std::uint64_t value = 0;
    for (int i = 7; i >= 0; --i)
        value = value << 8 | static_cast<unsigned char>(rest_[static_cast<std::size_t>(i)]);
    rest_.remove_prefix(8);
    return value;
}

Result<std::string_view> WireReader::bytes() {
    TRY(const std::uint64_t size, varint());
    if (size > rest_.size())
        return error(
            fmt::format("{} bytes are announced and only {} are there", size, rest_.size()));
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
}

Result<void> WireReader::skip(WireType type) {
    switch (type) {
        case WireType::kVarint:
            TRY_VOID(varint());
            break;
        case WireType::kFixed64:
            TRY_VOID(fixed64());
            break;
        case WireType::kBytes:
            TRY_VOID(bytes());
            break;
        case WireType::kFixed32:
            if (rest_.size() < 4) return error("the message ends inside of a number");
            rest_.remove_prefix(4);
            break;
    }
    return {};
}

}  // namespace muster::apiserver_http
