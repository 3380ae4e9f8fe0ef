#include "rpc/internal/frames.h"

#include <fmt/format.h>

#include <array>

namespace muster::rpc {
namespace {

constexpr std::size_t kLengthBytes = 4;
/// How clients of torch's TCPStore begin (its VALIDATE and most of the number that follows); as a
/// length it is longer than any frame may be.
constexpr std::string_view kTorchStore("\0\xCE\xF7\x85", kLengthBytes);
/// Those of torch before 2.1 begin with a command and eight bytes, the lowest first, that say how
/// long its key is or how many keys follow (pytorch, torch/csrc/distributed/c10d/TCPStore.cpp). No
/// message of ours has a zero byte behind its length: there is no field 0.
constexpr std::size_t kOldTorchBytes = 9;
constexpr unsigned char kLastOldCommand = 11;
constexpr std::size_t kLongestOldKey = std::size_t{8} * 1024;

/// Capacity kept for the next frames after a long one.
constexpr std::size_t kKeptForReading = std::size_t{16} * 1024;

std::size_t length_at(std::string_view bytes) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i)
        length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
    return length;
}

/// Of bytes that have at least a length; fewer than kOldTorchBytes look like it so far.
bool may_be_old_torch(std::string_view bytes) {
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
    const std::size_t key = at(1) | static_cast<std::size_t>(at(2)) << 8;
    const std::string_view high = bytes.substr(0, kOldTorchBytes).substr(kLengthBytes - 1);
    return at(0) <= kLastOldCommand && key > 0 && key <= kLongestOldKey &&
           high.find_first_not_of('\0') == high.npos;
}

Error not_an_agent(std::string_view which) {
    return Error(Code::kUnsupported,
                 fmt::format("it is a client of torch's own store{}, and not an agent", which));
}

Error too_long(std::size_t length, std::size_t longest) {
    return Error(Code::kTooLarge, fmt::format("a message of {} bytes; at most {} are allowed here",
                                              length, longest));
}

}  // namespace

Result<void> append_frame(std::string& out, const Frame& frame, std::size_t longest) {
    const std::size_t length = frame.ByteSizeLong();
    if (length > longest) return too_long(length, longest);
    std::array<char, kLengthBytes> prefix{};
    for (std::size_t i = 0; i < kLengthBytes; ++i)
        prefix[i] = static_cast<char>((length >> (8 * i)) & 0xff);
    out.append(prefix.data(), prefix.size());
    frame.AppendToString(&out);
    return {};
}

void FrameReader::put(std::string_view bytes) {
    if (used_ == bytes_.size()) {
        bytes_.clear();
        used_ = 0;
        if (bytes_.capacity() > kKeptForReading) bytes_.shrink_to_fit();
    } else if (used_ > bytes_.size() / 2) {
        bytes_.erase(0, used_);
        used_ = 0;
    }
    bytes_.append(bytes);
}

Result<std::optional<Frame>> FrameReader::next() {
    const std::string_view left = std::string_view(bytes_).substr(used_);
    if (left.size() < kLengthBytes) return std::optional<Frame>();
    const std::size_t length = length_at(left);
    if (first_ && may_be_old_torch(left)) {
        if (left.size() < kOldTorchBytes) return std::optional<Frame>();
        return not_an_agent(" (of torch before 2.1)");
    }
    if (length > longest_) {
        if (left.starts_with(kTorchStore)) return not_an_agent("");
        return too_long(length, longest_);
    }
    if (left.size() - kLengthBytes < length) return std::optional<Frame>();
    std::optional<Frame> frame(std::in_place);
    if (!frame->ParseFromArray(left.data() + kLengthBytes, static_cast<int>(length)))
        return Error(Code::kBadRequest, "not a message of this protocol");
    if (frame->kind_case() == Frame::KIND_NOT_SET)
        return Error(Code::kBadRequest, "a message of a kind unknown to this version");
    used_ += kLengthBytes + length;
    first_ = false;
    return frame;
}

}  // namespace muster::rpc
