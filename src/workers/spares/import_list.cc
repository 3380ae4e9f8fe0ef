#include "workers/spares/import_list.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/async/signal.h"
#include "base/log.h"

namespace muster::workers {

ImportList::ImportList(asio::any_io_executor executor, std::filesystem::path path)
    : path_(std::move(path)), executor_(executor) {
    const int notices = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    const int watch =
        notices < 0 ? -1 : ::inotify_add_watch(notices, path_.parent_path().c_str(), IN_MOVED_TO);
    if (watch < 0) {
        log::info("can't watch what workers import; it is seen later",
                  {{"file", path_.string()}, {"error", ::strerrordesc_np(errno)}});
        if (notices >= 0) ::close(notices);
        return;
    }
    notices_.emplace(executor, notices);
}

bool ImportList::exists() const {
    std::error_code error;
    return std::filesystem::exists(path_, error);
}

bool ImportList::take_notices() {
    bool found = false;
    alignas(inotify_event) std::array<char, 4096> buffer;
    for (;;) {
        const ssize_t size = ::read(notices_->native_handle(), buffer.data(), buffer.size());
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return found;
        for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
            inotify_event event;
            std::memcpy(&event, buffer.data() + at, sizeof event);
            if (event.len > 0 && path_.filename() == buffer.data() + at + sizeof event)
                found = true;
            at += sizeof event + event.len;
        }
    }
}

void ImportList::forget() {
    if (notices_) take_notices();
}

Task<void> ImportList::written() {
    if (!notices_) {
        Signal never(executor_);
        for (;;) co_await never.wait();
    }
    while (!take_notices())
        co_await notices_->async_wait(asio::posix::stream_descriptor::wait_read,
                                      asio::use_awaitable);
}

}  // namespace muster::workers
