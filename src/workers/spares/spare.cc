#include "workers/spares/spare.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <boost/asio/redirect_error.hpp>
#include <cerrno>
#include <cstring>

#include "process/message_socket.h"

namespace muster::workers {

namespace {

constexpr auto kReadable = asio::posix::stream_descriptor::wait_read;
constexpr auto kWritable = asio::posix::stream_descriptor::wait_write;

}  // namespace

Spare::Spare(asio::any_io_executor executor, Clock& clock, SpareRecipe recipe, WorkerRecord record,
             ProgressFile progress, StartedShim shim, UniqueFd control, Signal& changed,
             std::function<void(int)> killed)
    : recipe_(std::move(recipe)),
      worker_(std::make_unique<Worker>(executor, std::move(record), std::move(progress),
                                       std::move(shim.control), shim.pid, changed,
                                       [this, killed](Worker&, const ProcessEnd& how) {
                                           if (WIFSIGNALED(how.wait_status) && !asked_to_end_)
                                               killed(WTERMSIG(how.wait_status));
                                       })),
      control_(executor, control.release()),
      changed_(changed),
      tasks_(executor) {
    worker_->watch(clock);
}

void Spare::listen() {
    tasks_.spawn("spare", hear(), [this](const std::string& what) { lose(what); });
}

Task<void> Spare::hear() {
    std::array<char, 4096> buffer;
    while (!gone_ && !answer_) {
        const ssize_t size =
            ::recv(control_.native_handle(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0 && errno == EAGAIN) {
            co_await control_.async_wait(kReadable, asio::use_awaitable);
            continue;
        }
        if (size <= 0) {
            lose("it ended");
            break;
        }
        received_.append(buffer.data(), static_cast<std::size_t>(size));
        for (;;) {
            Result<std::optional<std::string>> message = take_message(received_);
            if (!message) lose(message.error().message());
            if (!message || !*message) break;
            take(**message);
        }
    }
}

void Spare::take(std::string_view message) {
    if (!ready_) {
        Result<SpareReady> ready = parse_ready(message);
        if (!ready) return lose(ready.error().message());
        ready_ = *std::move(ready);
    } else {
        answer_ = parse_started(message);
    }
    changed_.notify_all();
}

void Spare::lose(std::string why) {
    gone_ = true;
    why_gone_ = std::move(why);
    changed_.notify_all();
}

Task<Result<SpareStarted>> Spare::become(const ShimOrder& order, std::string start_message) {
    const auto alive = [this] { return !gone_ && worker_->state() != Worker::State::kGone; };
    while (!ready_ && alive()) co_await changed_.wait();
    if (!alive()) co_return Error(Code::kUnavailable, "it ended before it was ready");
    CO_TRY_VOID(worker_->request_become(order));
    std::optional<Result<std::array<UniqueFd, 2>>> streams;
    while (!(streams = worker_->take_streams()) && alive()) co_await changed_.wait();
    if (!streams) co_return Error(Code::kUnavailable, "it ended before it was a worker");
    if (!*streams) co_return std::move(*streams).error();
    CO_TRY_VOID(co_await send(std::move(start_message), **streams));
    streams.reset();
    while (!answer_ && alive()) co_await changed_.wait();
    if (!answer_) co_return Error(Code::kUnavailable, "it ended before it was a worker");
    co_return *answer_;
}

Task<Result<void>> Spare::send(std::string bytes, const std::array<UniqueFd, 2>& streams) {
    const std::array<int, 2> fds{streams[0].get(), streams[1].get()};
    // Descriptors go with the first byte; the rest may not fit at once.
    for (bool sent = false; !sent;) {
        CO_TRY(sent,
               process::send_message(control_.native_handle(), std::string_view(bytes).substr(0, 1),
                                     fds, MSG_DONTWAIT));
        if (!sent) co_await control_.async_wait(kWritable, asio::use_awaitable);
    }
    for (std::string_view rest = std::string_view(bytes).substr(1); !rest.empty();) {
        const ssize_t size =
            ::send(control_.native_handle(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size >= 0)
            rest.remove_prefix(static_cast<std::size_t>(size));
        else if (errno == EAGAIN)
            co_await control_.async_wait(kWritable, asio::use_awaitable);
        else if (errno == EPIPE || errno == ECONNRESET)
            break;  // its last message, or its end, tells more
        else if (errno != EINTR)
            co_return system_error("telling a spare to start", errno);
    }
    co_return Result<void>();
}

Task<std::unique_ptr<Worker>> Spare::release() {
    co_await tasks_.stop();
    co_return std::move(worker_);
}

void Spare::ask_to_end() {
    asked_to_end_ = true;
    worker_->request_end(Duration(0), SIGKILL);
}

Task<void> Spare::end() {
    ask_to_end();
    co_await tasks_.stop();
    co_await worker_->gone();
}

}  // namespace muster::workers
