#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/async/signal.h"
#include "net/byte_stream.h"
#include "rsh/internal/frames.h"

namespace muster::rsh {

/// Sends and receives frames over a stream. One coroutine reads; any number may write, and frames
/// are never mixed. Thread: the loop of the stream.
class FrameStream {
  public:
    FrameStream(const asio::any_io_executor& executor, std::unique_ptr<net::ByteStream> stream)
        : stream_(std::move(stream)), written_(executor) {}

    /// The next frame; nullopt if the stream ended between two frames. kUnavailable: the connection
    /// broke or ended within a frame. kInvalid: the bytes are not a frame.
    Task<Result<std::optional<Frame>>> read();
    /// Writes in the order of the calls. After a broken connection this and all later calls fail.
    Task<Result<void>> write(std::string frames);
    Task<Result<void>> write(FrameType type, std::string payload);
    /// Closes this direction; later writes return kCancelled.
    Task<Result<void>> shut_down_write();
    std::string peer_address() const { return stream_->peer_address(); }

  private:
    Task<void> take_turn();

    std::unique_ptr<net::ByteStream> stream_;
    FrameReader reader_;
    Signal written_;
    bool writing_ = false;
    bool shut_down_ = false;
};

}  // namespace muster::rsh
