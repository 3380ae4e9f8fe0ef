#pragma once

#include <muster/rpc/frame.pb.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::rpc {

using wire::Frame;

/// Adds a frame to what is to be sent. kTooLarge when it has more than `longest` bytes; then
/// nothing is added.
Result<void> append_frame(std::string& out, const Frame& frame, std::size_t longest);

/// Bytes as they come, whole frames as they go. Nothing of it waits or fails but by what the bytes
/// say; after an error the connection is of no use, since where the next frame begins is not known.
class FrameReader {
  public:
    /// Of its bytes without their length.
    explicit FrameReader(std::size_t longest) : longest_(longest) {}
    /// Holds for frames whose length was not looked at yet.
    void allow(std::size_t longest) { longest_ = longest; }

    void put(std::string_view bytes);
    /// The next whole frame, or nothing until more has come. kTooLarge: one is longer than allowed,
    /// told by its length, before the rest is there; kBadRequest: one is no Frame, or of a kind
    /// that this version does not know.
    Result<std::optional<Frame>> next();
    /// True in the middle of a frame: an end there is no clean one.
    bool torn() const { return used_ < bytes_.size(); }

  private:
    std::size_t longest_;
    std::string bytes_;
    std::size_t used_ = 0;  ///< of bytes_: what next() gave already
};

}  // namespace muster::rpc
