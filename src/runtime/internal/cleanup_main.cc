#include "runtime/internal/cleanup_main.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "process/message_socket.h"
#include "runtime/cleanup_process.h"
#include "runtime/internal/limits/cgroup_sweep.h"
#include "runtime/stale_state.h"

namespace muster::runtime {

namespace {

class CleanupMain {
  public:
    int run() {
        while (listen()) {
        }
        while (!processes_.empty()) wait_for_processes(-1);
        for (const std::string& group : groups_) warn(sweep_cgroup(kernel_cgroup_files(), group));
        for (const auto& [directory, marker] : directories_)
            if (const std::error_code error = remove_run_directory(directory, marker))
                warn(system_error("removing " + directory, error.value()));
        return 0;
    }

  private:
    static void warn(const Result<void>& done) {
        if (!done)
            log::warning("a killed run leaves something behind; `muster clean` removes it",
                         {{"error", done.error().message()}});
    }

    /// False once the process that it cleans up after has ended.
    bool listen() {
        wait_for_processes(control_.get());
        for (;;) {
            auto received = process::receive_message(control_.get(), MSG_DONTWAIT);
            if (!received) return false;
            if (received->nothing_yet) return true;
            if (received->bytes.empty()) return false;
            take(*received);
        }
    }

    void take(process::Message& message) {
        std::string path = message.bytes.substr(1);
        UniqueFd fd = message.fds.empty() ? UniqueFd() : std::move(message.fds[0]);
        switch (static_cast<CleanupMessage>(message.bytes[0])) {
            case CleanupMessage::kProcess:
                return processes_.push_back(std::move(fd));
            case CleanupMessage::kDirectory:
                return add_directory(path);
            case CleanupMessage::kGroup:
                return groups_.push_back(std::move(path));
            case CleanupMessage::kLock:
                return locks_.push_back(std::move(fd));
        }
    }

    /// The path and the name of its marker.
    void add_directory(std::string_view words) {
        const std::size_t end = std::min(words.find('\0'), words.size());
        directories_.emplace_back(words.substr(0, end),
                                  words.substr(std::min(end + 1, words.size())));
    }

    /// Returns when one of them has ended, or there is something to read.
    void wait_for_processes(int control) {
        std::vector<pollfd> events;
        for (const UniqueFd& process : processes_) events.push_back({process.get(), POLLIN, 0});
        events.push_back({control, POLLIN, 0});
        if (::poll(events.data(), events.size(), -1) < 0) return;
        for (std::size_t i = processes_.size(); i-- > 0;)
            if (events[i].revents != 0)
                processes_.erase(processes_.begin() + static_cast<std::ptrdiff_t>(i));
    }

    UniqueFd control_{kCleanupControlFd};
    std::vector<UniqueFd> processes_;
    std::vector<UniqueFd> locks_;  ///< until the very end
    std::vector<std::string> groups_;
    std::vector<std::pair<std::string, std::string>> directories_;
};

int run_cleanup() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_IGN);
    if (::chdir("/") < 0) return 1;
    return CleanupMain().run();
}

}  // namespace

std::optional<int> run_as_cleanup_process(int argc, char** argv) {
    if (argc < 2 || std::string_view(argv[1]) != kCleanupArgument) return std::nullopt;
    // No destructors or exit handlers of the rest of the program.
    ::_exit(run_cleanup());
}

}  // namespace muster::runtime
