#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::rsh {

/// What both sides say to each other inside TLS: a byte for the type, four for the length (the
/// highest first), then so many bytes.
enum class FrameType : std::uint8_t {
    // From the client.
    kRequest = 1,   ///< the first: a byte for the version of this protocol, then the command
    kInput = 2,     ///< of the command's standard input
    kInputEnd = 3,  ///< nothing follows on it
    // From the server.
    kCredit = 4,   ///< so many bytes of input (four bytes) have been taken: more may be sent
    kOutput = 5,   ///< of the command's standard output
    kErrors = 6,   ///< of its standard error
    kExited = 7,   ///< the last: its exit status (one byte)
    kKilled = 8,   ///< the last: the signal that ended it (one byte)
    kRefused = 9,  ///< the last: why the command was not started
};

constexpr std::uint8_t kVersion = 1;
/// Of a frame of data.
constexpr std::size_t kMostData = std::size_t{64} * 1024;
/// Linux takes no longer argument, which a command is to the shell.
constexpr std::size_t kMostCommand = std::size_t{128} * 1024;
/// How much input may be on its way. A server that has that much always reads on, and so notices a
/// client that goes away whatever the command does.
constexpr std::size_t kWindow = std::size_t{256} * 1024;

struct Frame {
    FrameType type;
    std::string payload;

    friend bool operator==(const Frame&, const Frame&) = default;
};

/// What comes before a payload of `size` bytes.
std::string frame_head(FrameType type, std::size_t size);
std::string frame_text(FrameType type, std::string_view payload);
std::string credit_frame(std::uint32_t bytes);

/// Cuts a stream of bytes into frames, however they arrive.
class FrameReader {
  public:
    void put(std::string_view bytes) { bytes_ += bytes; }
    /// nullopt: more bytes are needed. kInvalid: this is not our protocol, and so is every later
    /// call.
    Result<std::optional<Frame>> next();
    /// The stream may end here.
    bool between_frames() const { return at_ == bytes_.size(); }

  private:
    std::string bytes_;
    std::size_t at_ = 0;
};

}  // namespace muster::rsh
