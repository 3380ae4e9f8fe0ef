#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "base/async/signal.h"
#include "net/byte_stream.h"
#include "rpc/internal/frames.h"

namespace muster::rpc {

/// Frames over a connection, which it owns. What is to be sent is queued as bytes and goes out
/// together, in order. One reader; any number may queue.
///
/// Thread: the loop of the stream. Whoever owns it runs write_queued() in a task for as long as
/// frames are to go out, and destroys it when neither that nor a read waits any more.
class Wire {
  public:
    struct Limits {
        std::size_t longest_frame;
        std::size_t queued;  ///< bytes that may wait before room() makes others wait
    };

    Wire(std::unique_ptr<net::ByteStream> stream, const asio::any_io_executor& executor,
         Limits limits, std::size_t longest_first_frame);

    /// The next frame; nothing at a clean end, which is one between frames. Errors of the stream
    /// and of FrameReader; kUnavailable when it ends within a frame.
    Task<Result<std::optional<Frame>>> read();
    /// Reads on to the end, whatever comes: so that the other side can read the last frame of this
    /// one.
    Task<void> discard();
    /// From now on frames that come may have their full length.
    void trust() { reader_.allow(limits_.longest_frame); }
    /// The other side takes no longer ones.
    void write_at_most(std::size_t longest) {
        limits_.longest_frame = std::min(limits_.longest_frame, longest);
    }

    /// Takes it whatever is queued already: who can be kept waiting awaits room() first. It goes
    /// out there and then where nothing waits before it. kTooLarge as append_frame(); kUnavailable
    /// after end_with() or close().
    Result<void> queue(const Frame& frame);
    std::size_t queued() const { return queued_.size(); }
    /// Returns when less is queued than may be, or the wire is closed.
    Task<void> room();
    /// Sends what is queued as it comes, until end_with() or close().
    Task<Result<void>> write_queued();
    /// As the last frame: what is queued goes first, and then this side has a clean end.
    void end_with(const Frame& last);
    /// At once. What waits returns.
    void close();
    bool closed() const { return closed_; }

    /// Something has come that read() did not give yet.
    bool has_input() const { return stream_->has_input(); }
    std::string peer_address() const { return stream_->peer_address(); }

  private:
    std::unique_ptr<net::ByteStream> stream_;
    Limits limits_;
    FrameReader reader_;
    std::string queued_;
    Signal changed_;
    bool writer_waits_ = false;  ///< for the next frame: all that came before has gone out
    bool ending_ = false;
    bool closed_ = false;
};

}  // namespace muster::rpc
