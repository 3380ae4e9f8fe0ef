#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <memory>
#include <optional>

#include "base/async/async.h"
#include "base/result.h"

namespace muster::rsh {

/// A descriptor that is read or written without blocking the loop, and without O_NONBLOCK: that
/// flag belongs to the open file, which other processes may share (a terminal, a log), and they
/// would find their writes cut short.
///
/// It is watched through an epoll descriptor of its own. What can't be watched (a regular file) is
/// always ready. Thread: one loop.
class Descriptor {
  public:
    enum class Use { kRead, kWrite };

    /// Does not own `fd`, which must stay open.
    Descriptor(const asio::any_io_executor& executor, int fd, Use use);

    /// Waits for at least one byte; 0 is the end.
    Task<Result<std::size_t>> read_some(asio::mutable_buffer into);
    /// All of it. kUnavailable when nobody reads any more (EPIPE).
    Task<Result<void>> write(asio::const_buffer bytes);

  private:
    Task<void> ready();

    int fd_;
    std::optional<asio::posix::stream_descriptor> watch_;
};

}  // namespace muster::rsh
