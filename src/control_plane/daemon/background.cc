#include "control_plane/daemon/background.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/parse_number.h"
#include "base/unique_fd.h"
#include "control_plane/daemon/daemon_log.h"

namespace muster::control_plane {

namespace {

constexpr char kReady = 'r';
constexpr char kFailed = 'f';

[[noreturn]] void wait_as_parent(std::string_view verb, int pipe, pid_t child,
                                 const std::filesystem::path& log) {
    std::string told;
    std::array<char, 4096> buffer;
    for (;;) {
        const ssize_t size = ::read(pipe, buffer.data(), buffer.size());
        if (size > 0) told.append(buffer.data(), static_cast<std::size_t>(size));
        if (size == 0 || (size < 0 && errno != EINTR)) break;
    }
    if (told.starts_with(kReady)) {
        fmt::print("{}", told.substr(1));
        std::fflush(stdout);
        ::_exit(0);
    }
    // Until it has ended, it holds what another try needs.
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (told.starts_with(kFailed)) {
        fmt::print(stderr, "{}", told.substr(1));
        ::_exit(1);
    }
    fmt::print(stderr, "{}: the background process ended before it was ready ({}); see {}\n", verb,
               WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                   : fmt::format("exit status {}", WEXITSTATUS(status)),
               log.string());
    ::_exit(1);
}

/// Closes what whoever started this program has open: a lock, or a pipe whose reader waits for its
/// end. What came through exec() lacks close-on-exec, which all that this program opens has.
void close_inherited() {
    std::vector<int> inherited;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const int descriptor = parse_number<int>(entry.path().filename().native()).value_or(0);
        const int flags = ::fcntl(descriptor, F_GETFD);
        if (descriptor > STDERR_FILENO && flags >= 0 && (flags & FD_CLOEXEC) == 0)
            inherited.push_back(descriptor);
    }
    for (const int descriptor : inherited) ::close(descriptor);
}

}  // namespace

Result<Background> Background::start(std::string_view verb, const std::filesystem::path& path,
                                     std::function<WallTime()> time) {
    // Tried here, where a failure can still be told.
    const UniqueFd output(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!output) return system_error("opening " + path.string(), errno);
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    std::array<int, 2> pipe{};
    if (nothing < 0 || ::pipe2(pipe.data(), O_CLOEXEC) < 0)
        return system_error("going into the background", errno);
    const pid_t child = ::fork();
    if (child < 0) return system_error("going into the background", errno);
    if (child > 0) {
        ::close(pipe[1]);
        wait_as_parent(verb, pipe[0], child, path);
    }
    ::close(pipe[0]);
    // Away from the terminal, whose signals are not for it.
    ::setsid();
    ::dup2(nothing, STDIN_FILENO);
    ::close(nothing);
    close_inherited();
    auto log = std::make_shared<DaemonLog>(path, std::vector<int>{STDOUT_FILENO, STDERR_FILENO},
                                           std::move(time));
    TRY_VOID(log->open());
    log::set_sink([log](log::Level level, std::string_view line) { log->write(level, line); });
    return Background(pipe[1]);
}

Background::~Background() {
    if (ready_ >= 0) ::close(ready_);
}

void Background::ready(const std::string& text) { tell(kReady, text); }

void Background::failed(const std::string& text) { tell(kFailed, text); }

void Background::tell(char outcome, const std::string& text) {
    const std::string whole = outcome + text;
    // If the parent is gone, no one is left to tell.
    std::ignore = ::write(ready_, whole.data(), whole.size());
    ::close(ready_);
    ready_ = -1;
}

}  // namespace muster::control_plane
