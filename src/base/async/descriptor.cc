#include "base/async/descriptor.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <cerrno>
#include <climits>

namespace muster {

Descriptor::Descriptor(const asio::any_io_executor& executor, int fd, Use use) : fd_(fd) {
    const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) return;  // without a free descriptor it works, but blocks the loop
    epoll_event wanted{};
    wanted.events = use == Use::kRead ? EPOLLIN : EPOLLOUT;
    if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &wanted) != 0) {
        ::close(epoll);  // EPERM: a regular file, which is always ready
        return;
    }
    watch_.emplace(executor, epoll);
}

Task<void> Descriptor::ready() {
    // An epoll descriptor is readable when what it watches is ready.
    if (watch_)
        co_await watch_->async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
}

Task<Result<std::size_t>> Descriptor::read_some(asio::mutable_buffer into) {
    for (;;) {
        co_await ready();
        const ssize_t size = ::read(fd_, into.data(), into.size());
        if (size >= 0) co_return static_cast<std::size_t>(size);
        if (errno != EINTR && errno != EAGAIN)
            co_return system_error("reading from a pipe or a file", errno);
    }
}

Task<Result<void>> Descriptor::write(asio::const_buffer bytes) {
    while (bytes.size() > 0) {
        co_await ready();
        // A pipe that is ready accepts this much at once, so the write does not block.
        const std::size_t most =
            watch_ ? std::min<std::size_t>(bytes.size(), PIPE_BUF) : bytes.size();
        const ssize_t size = ::write(fd_, bytes.data(), most);
        if (size >= 0) {
            bytes += static_cast<std::size_t>(size);
            continue;
        }
        if (errno == EPIPE)
            co_return Error(Code::kUnavailable, "nothing reads the output any more");
        if (errno != EINTR && errno != EAGAIN)
            co_return system_error("writing to a pipe or a file", errno);
    }
    co_return Result<void>();
}

}  // namespace muster
