#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "base/async/async.h"
#include "base/result.h"

namespace muster::net {

/// A few pieces of memory that are sent as one: a head and its body in one system call or one TLS
/// record. Refers to the memory of the caller.
class ConstBuffers {
  public:
    static constexpr std::size_t kMost = 4;

    ConstBuffers(asio::const_buffer piece) : pieces_{piece}, count_(1) {}                  // NOLINT
    ConstBuffers(asio::mutable_buffer piece) : ConstBuffers(asio::const_buffer(piece)) {}  // NOLINT
    ConstBuffers(std::initializer_list<asio::const_buffer> pieces);                        // NOLINT

    std::span<const asio::const_buffer> pieces() const { return {pieces_.data(), count_}; }
    /// The total, in bytes.
    std::size_t size() const;
    /// Drops the first `bytes` of them.
    void consume(std::size_t bytes);
    std::string to_string() const;

  private:
    std::array<asio::const_buffer, kMost> pieces_{};
    std::size_t count_ = 0;
};

/// A two-way connection of bytes. Owns the layer below it (a socket, another stream); destroying it
/// closes it, and no operation may be waiting then.
///
/// One reader and one writer at a time, which may be two coroutines. A waiting operation throws
/// operation_aborted when its coroutine is cancelled: a cancelled reader loses no byte and may read
/// again, but after a cancelled write nothing more can be written. Errors: kUnavailable when the
/// connection broke, kCancelled after a close() of this side.
///
/// Thread: the loop that it was made for.
class ByteStream {
  public:
    virtual ~ByteStream() = default;

    /// Waits for at least one byte. 0 is the other side's clean end, and every later read returns
    /// it too. An empty buffer is not allowed.
    virtual Task<Result<std::size_t>> read_some(asio::mutable_buffer into) = 0;
    /// Returns when all bytes were handed to the layer below. The memory must stay valid until
    /// then.
    virtual Task<Result<void>> write(ConstBuffers bytes) = 0;
    /// The same without waiting, for callers that don't want a coroutine for an answer of a few
    /// bytes. Returns how many bytes were taken: 0 if there is no room, if the layer can't tell, or
    /// if the connection broke (write() says which). Not while another write is in progress.
    virtual std::size_t write_now(ConstBuffers bytes);
    /// True if write_now() took bytes that the layer below had no room for. The next write() sends
    /// them first, even if that write is empty.
    virtual bool has_unsent() const { return false; }
    /// A clean end of what this side sends; reading is still possible. Nothing may be written
    /// afterwards.
    virtual Task<Result<void>> shut_down_write() = 0;
    /// Immediate. Waiting operations end with kCancelled. The other side reads what was written
    /// before, and then an end that it can't distinguish from a clean one; over TLS it can.
    virtual void close() = 0;
    /// True if unread input has arrived, an end included, as far as that can be seen without
    /// waiting. For owners of a connection on which nothing should arrive.
    virtual bool has_input() const = 0;
    /// For a reader that lets a while pass: until the next read_some() or has_input(), input wakes
    /// the loop only when there is much of it. False, and nothing changes, if the last read may have
    /// left some, or if this is not known of the stream.
    virtual bool gather() { return false; }
    /// The other side's address, for people: "127.0.0.1:4711", "unix", "memory".
    virtual std::string peer_address() const = 0;
};

/// A source of incoming connections. Destroying it closes it; accepted connections are not
/// affected. Thread: the loop that it was made for.
class Listener {
  public:
    virtual ~Listener() = default;

    /// The next connection. kTooManyRequests if this process or machine has no descriptor or memory
    /// for it: worth another try a little later. kCancelled after close(). Throws operation_aborted
    /// when cancelled, and loses no connection by that.
    virtual Task<Result<std::unique_ptr<ByteStream>>> accept() = 0;
    virtual void close() = 0;
    /// "127.0.0.1:6443", "[::1]:6443", "unix:/run/x.sock", "memory".
    virtual std::string address() const = 0;
};

}  // namespace muster::net
