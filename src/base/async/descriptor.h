#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <optional>

#include "base/async/async.h"
#include "base/result.h"

namespace muster {

/// Reads or writes a descriptor without blocking the loop, and without O_NONBLOCK: that flag
/// belongs to the open file, which other processes may share (a terminal, a log), and their writes
/// would be cut short.
///
/// It is watched through its own epoll descriptor. A descriptor that can't be watched (a regular
/// file) counts as always ready. Thread: one loop.
class Descriptor {
  public:
    enum class Use { kRead, kWrite };

    /// Does not own `fd`, which must stay open.
    Descriptor(const asio::any_io_executor& executor, int fd, Use use);

    /// Waits for at least one byte; 0 at the end.
    Task<Result<std::size_t>> read_some(asio::mutable_buffer into);
    /// Writes all bytes. kUnavailable if there is no reader any more (EPIPE).
    Task<Result<void>> write(asio::const_buffer bytes);

  private:
    Task<void> ready();

    int fd_;
    std::optional<asio::posix::stream_descriptor> watch_;
};

}  // namespace muster
