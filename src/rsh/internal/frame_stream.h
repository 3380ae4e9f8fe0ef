#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/async/signal.h"
#include "net/byte_stream.h"
#include "rsh/internal/frames.h"

namespace muster::rsh {

/// Frames over a stream: one coroutine reads, any number write, whose frames stay whole.
/// Thread: the loop of the stream.
class FrameStream {
  public:
    FrameStream(const asio::any_io_executor& executor, std::unique_ptr<net::ByteStream> stream)
        : stream_(std::move(stream)), written_(executor) {}

    /// The next frame; nullopt at a clean end between two of them. kUnavailable when the connection
    /// broke or ended inside of one, kInvalid for what is no frame.
    Task<Result<std::optional<Frame>>> read();
    /// In the order of the calls. A broken connection is an error of this and all later ones.
    Task<Result<void>> write(std::string frames);
    Task<Result<void>> write(FrameType type, std::string payload);
    /// The last word; a later write is kCancelled.
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
