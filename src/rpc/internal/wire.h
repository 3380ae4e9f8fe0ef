#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "base/async/signal.h"
#include "net/byte_stream.h"
#include "rpc/internal/frames.h"

namespace muster::rpc {

/// Sends and receives frames over a connection, which it owns. Frames to send are queued as bytes
/// and written together, in order. One reader; any number of writers.
///
/// Thread: the loop of the stream. The owner runs write_queued() in a task for as long as frames
/// are to be sent, and destroys this object when neither that task nor a read is waiting.
class Wire {
  public:
    struct Limits {
        std::size_t longest_frame;
        std::size_t queued;  ///< queued bytes above which room() waits
    };

    Wire(std::unique_ptr<net::ByteStream> stream, const asio::any_io_executor& executor,
         Limits limits, std::size_t longest_first_frame);

    /// The next frame; nullopt if the connection ended between two frames. Errors of the stream and
    /// of FrameReader; kUnavailable if the connection ended within a frame.
    Task<Result<std::optional<Frame>>> read();
    /// Reads and discards everything until the end, so that the other side can read our last frame.
    Task<void> discard();
    /// From now on received frames may have their full length.
    void trust() { reader_.allow(limits_.longest_frame); }
    /// The other side accepts no longer frames.
    void write_at_most(std::size_t longest) {
        limits_.longest_frame = std::min(limits_.longest_frame, longest);
    }

    /// Queues the frame however much is queued already; callers that can wait call room() first.
    /// Sends at once if nothing is queued. kTooLarge as for append_frame(); kUnavailable after
    /// end_with() or close().
    Result<void> queue(const Frame& frame);
    std::size_t queued() const { return queued_.size(); }
    /// Returns when the queue is below its limit, or the wire is closed.
    Task<void> room();
    /// Sends queued frames as they come, until end_with() or close().
    Task<Result<void>> write_queued();
    /// Queues the last frame; once it has been sent, this side closes cleanly.
    void end_with(const Frame& last);
    /// The same with bytes of another protocol, which the other side speaks.
    void end_with_bytes(std::string_view last);
    /// Closes at once. Pending operations return.
    void close();
    bool closed() const { return closed_; }

    /// Input has arrived that read() has not returned yet.
    bool has_input() const { return stream_->has_input(); }
    std::string peer_address() const { return stream_->peer_address(); }

  private:
    std::unique_ptr<net::ByteStream> stream_;
    Limits limits_;
    FrameReader reader_;
    std::string queued_;
    Signal changed_;
    bool writer_waits_ = false;  ///< for the next frame; all earlier ones have been sent
    bool ending_ = false;
    bool closed_ = false;
};

}  // namespace muster::rpc
