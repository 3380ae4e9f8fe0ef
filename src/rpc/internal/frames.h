#pragma once

#include <muster/rpc/frame.pb.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::rpc {

using wire::Frame;

/// Appends a frame. kTooLarge if it has more than `longest` bytes; then nothing is appended.
Result<void> append_frame(std::string& out, const Frame& frame, std::size_t longest);

/// Takes bytes as they arrive and returns whole frames. Fails only on invalid bytes; after an error
/// the connection can't be used any more, because the start of the next frame is unknown.
class FrameReader {
  public:
    /// `longest`: bytes of a frame without its length.
    explicit FrameReader(std::size_t longest) : longest_(longest) {}
    /// Applies to frames whose length has not been read yet.
    void allow(std::size_t longest) { longest_ = longest; }

    void put(std::string_view bytes);
    /// The next whole frame; nullopt until more has arrived. kTooLarge: a frame is longer than
    /// allowed, returned as soon as its length is known (of the first one also the byte behind
    /// that); kBadRequest: it is not a Frame, or of a kind unknown to this version; kUnsupported:
    /// the other side speaks the protocol of torch's TCPStore.
    Result<std::optional<Frame>> next();
    /// True in the middle of a frame: the stream must not end here.
    bool torn() const { return used_ < bytes_.size(); }

  private:
    std::size_t longest_;
    std::string bytes_;
    std::size_t used_ = 0;  ///< of bytes_, already returned by next()
    bool first_ = true;     ///< no frame has come yet
};

}  // namespace muster::rpc
