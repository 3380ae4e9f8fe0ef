#include "runtime/internal/limits/oom_notices.h"

#include <unistd.h>

#include <array>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace muster::runtime {

OomNotices::OomNotices(asio::any_io_executor executor, UniqueFd descriptor,
                       process::CgroupVersion version)
    : descriptor_(std::move(executor), descriptor.release()), version_(version) {
    drain();
}

Task<void> OomNotices::wait() {
    co_await descriptor_.async_wait(version_ == process::CgroupVersion::kV1
                                        ? asio::posix::stream_descriptor::wait_read
                                        : asio::posix::stream_descriptor::wait_error,
                                    asio::use_awaitable);
    drain();
}

void OomNotices::close() {
    boost::system::error_code ignored;
    descriptor_.close(ignored);
}

void OomNotices::drain() {
    std::array<char, 512> text;
    // Both are read without waiting. What the file says is read elsewhere.
    [[maybe_unused]] const ssize_t size =
        version_ == process::CgroupVersion::kV1
            ? ::read(descriptor_.native_handle(), text.data(), text.size())
            : ::pread(descriptor_.native_handle(), text.data(), text.size(), 0);
}

}  // namespace muster::runtime
