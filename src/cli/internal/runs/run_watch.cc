#include "cli/internal/runs/run_watch.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/unique_fd.h"
#include "cli/internal/record/run_folder.h"

namespace muster::cli {

Result<std::unique_ptr<RunWatch>> RunWatch::create(TaskGroup& tasks, const FoundRun& run) {
    UniqueFd inotify(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!inotify || ::inotify_add_watch(inotify.get(), run.folder.c_str(),
                                        IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) < 0)
        return system_error(
            fmt::format("watching {} (the sysctls fs.inotify.* limit it)", run.folder.string()),
            errno);
    UniqueFd process;
    if (run.alive) {
        process.reset(static_cast<int>(::syscall(SYS_pidfd_open, run.record.pid, 0)));
        if (!process && errno != ESRCH)
            return system_error(fmt::format("watching process {}", run.record.pid), errno);
        // Only now is it certain that the number is still the run's.
        TRY(const FoundRun now, read_run(run.folder));
        if (!now.alive) process.reset();
    }
    return std::unique_ptr<RunWatch>(new RunWatch(tasks, inotify.release(), process.release()));
}

RunWatch::RunWatch(TaskGroup& tasks, int inotify, int process)
    : tasks_(tasks),
      changed_(tasks.executor()),
      inotify_(tasks.executor(), inotify),
      process_(tasks.executor()),
      ended_(process < 0) {
    if (process >= 0) process_.assign(process);
}

void RunWatch::start() {
    tasks_.spawn_essential("watch of the folder", watch_folder());
    if (!ended_) tasks_.spawn_essential("watch of the process", watch_process());
}

Task<void> RunWatch::watch_folder() {
    for (;;) {
        co_await inotify_.async_wait(asio::posix::stream_descriptor::wait_read,
                                     asio::use_awaitable);
        alignas(inotify_event) std::array<char, 4096> events;
        while (::read(inotify_.native_handle(), events.data(), events.size()) > 0) {
        }
        changed_.notify_all();
    }
}

Task<void> RunWatch::watch_process() {
    co_await process_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    ended_ = true;
    changed_.notify_all();
}

Task<void> RunWatch::wait_end() {
    while (!ended_) co_await changed_.wait();
}

Result<void> RunWatch::terminate() {
    if (ended_) return {};
    if (::syscall(SYS_pidfd_send_signal, process_.native_handle(), SIGTERM, nullptr, 0) < 0 &&
        errno != ESRCH)
        return system_error("sending SIGTERM to the run's process", errno);
    return {};
}

}  // namespace muster::cli
