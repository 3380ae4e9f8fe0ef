#include "runtime/internal/output_pump.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <boost/asio/redirect_error.hpp>
#include <cerrno>

namespace muster::runtime {

Result<std::pair<std::shared_ptr<OutputPump>, UniqueFd>> OutputPump::create(
    asio::any_io_executor executor, Clock& clock, std::shared_ptr<LogFile> log, LogStream stream) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) < 0)
        return system_error("making a pipe for a container's output", errno);
    UniqueFd reader(ends[0]);
    UniqueFd writer(ends[1]);
    // Only our end: programs do not expect theirs to be non-blocking.
    if (::fcntl(reader.get(), F_SETFL, O_NONBLOCK) < 0)
        return system_error("making a container's output non-blocking", errno);
    return std::pair{std::make_shared<OutputPump>(std::move(executor), clock, std::move(log),
                                                  stream, std::move(reader)),
                     std::move(writer)};
}

Task<void> OutputPump::run() {
    while (pipe_.is_open()) {
        // One piece a turn, so that a container that writes without end does not stop the loop.
        boost::system::error_code error;
        co_await pipe_.async_wait(asio::posix::stream_descriptor::wait_read,
                                  asio::redirect_error(asio::use_awaitable, error));
        if (!pipe_.is_open()) co_return;
        if (error) throw boost::system::system_error(error);
        if (read_once() == Read::kEnd) pipe_.close();
    }
}

void OutputPump::drain() {
    if (!pipe_.is_open()) return;
    // A pipe holds 64 KiB unless its writer made it larger; the bound is for one that still writes.
    for (int pieces = 0; pieces < 64 && read_once() == Read::kSome; ++pieces) {
    }
    pipe_.close();
}

OutputPump::Read OutputPump::read_once() {
    std::array<char, 64 * 1024> buffer;
    const ssize_t size = ::read(pipe_.native_handle(), buffer.data(), buffer.size());
    if (size > 0) {
        log_->write(stream_, {buffer.data(), static_cast<std::size_t>(size)}, clock_.wall_now());
        return Read::kSome;
    }
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return Read::kNothingYet;
    return Read::kEnd;
}

}  // namespace muster::runtime
