#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::rsh {

/// The messages of both sides inside TLS: one byte for the type, four for the length (big-endian),
/// then that many bytes.
enum class FrameType : std::uint8_t {
    // From the client.
    kRequest = 1,   ///< first: a byte with the version of this protocol, then the command
    kInput = 2,     ///< of the command's standard input
    kInputEnd = 3,  ///< no more input follows
    // From the server.
    kCredit = 4,   ///< that many bytes of input (four bytes) were consumed: more may be sent
    kOutput = 5,   ///< of the command's standard output
    kErrors = 6,   ///< of its standard error
    kExited = 7,   ///< last: its exit status (one byte)
    kKilled = 8,   ///< last: the signal that killed it (one byte)
    kRefused = 9,  ///< last: why the command was not started
};

constexpr std::uint8_t kVersion = 1;
/// The most bytes in a frame of data.
constexpr std::size_t kMostData = std::size_t{64} * 1024;
/// Linux limits an argument to this length, and the command is an argument of the shell.
constexpr std::size_t kMostCommand = std::size_t{128} * 1024;
/// The most input in flight. A server with room for that much can always read, and so notices a
/// client that goes away, whatever the command does.
constexpr std::size_t kWindow = std::size_t{256} * 1024;

struct Frame {
    FrameType type;
    std::string payload;

    friend bool operator==(const Frame&, const Frame&) = default;
};

/// The header of a frame with `size` bytes of payload.
std::string frame_head(FrameType type, std::size_t size);
std::string frame_text(FrameType type, std::string_view payload);
std::string credit_frame(std::uint32_t bytes);

/// Splits a stream of bytes into frames.
class FrameReader {
  public:
    void put(std::string_view bytes) { bytes_ += bytes; }
    /// nullopt: more bytes are needed. kInvalid: this is not our protocol; all later calls return
    /// the same.
    Result<std::optional<Frame>> next();
    /// Whether the stream may end here.
    bool between_frames() const { return at_ == bytes_.size(); }

  private:
    std::string bytes_;
    std::size_t at_ = 0;
};

}  // namespace muster::rsh
