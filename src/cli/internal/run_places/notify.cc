#include "cli/internal/run_places/notify.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <cerrno>

#include "base/async/run_to_end.h"
#include "base/signal_name.h"
#include "base/time/real_clock.h"
#include "base/unique_fd.h"
#include "cli/internal/record/notification.h"
#include "net/http/call_once.h"

namespace muster::cli {

namespace {

constexpr Duration kNotifyTime = std::chrono::seconds(10);
constexpr int kNotifyTries = 3;
constexpr Duration kFirstNotifyPause = std::chrono::seconds(1);
constexpr std::size_t kMostOfAnswer = std::size_t{64} * 1024;
constexpr int kCommandMilliseconds = 30'000;

std::string name_of_machine() {
    std::array<char, 256> name{};
    return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this machine";
}

Task<Result<void>> post(asio::any_io_executor executor, Clock& clock, NotificationUrl url,
                        std::string body, net::TlsClientContext* tls) {
    net::HttpRequest request;
    request.method = "POST";
    request.target = url.target;
    request.headers = {{"User-Agent", "muster"}, {"Content-Type", "application/json"}};
    request.body = std::move(body);
    CO_TRY(const net::HttpResponse answer,
           co_await net::call_once(
               executor, clock, net::tcp_connector(executor, url.host, url.port, tls),
               {.host = url.authority, .connect_time = kNotifyTime, .body_bytes = kMostOfAnswer},
               std::move(request), kNotifyTime));
    if (answer.status >= 200 && answer.status < 300) co_return Result<void>();
    // What is wrong with the request stays wrong.
    const bool later = answer.status == 429 || answer.status >= 500;
    co_return Error(
        later ? Code::kUnavailable : Code::kInvalid,
        fmt::format("{} answered {}: {}", url.host, answer.status, answer.body.substr(0, 200)));
}

Task<Result<void>> post_until_taken(asio::any_io_executor executor, Clock& clock,
                                    NotificationUrl url, std::string body,
                                    net::TlsClientContext* tls) {
    Duration pause = kFirstNotifyPause;
    for (int left = kNotifyTries;; --left, pause *= 2) {
        Result<void> posted = co_await post(executor, clock, url, body, tls);
        if (posted || left == 1 || posted.error().code() == Code::kInvalid) co_return posted;
        co_await clock.sleep_for(pause);
    }
}

Result<void> notify_url(const std::string& to, std::string body) {
    TRY(const NotificationUrl url, notification_url(to));
    RealClock clock;
    asio::io_context context(1);
    std::unique_ptr<net::TlsClientContext> tls;
    if (url.tls) {
        TRY(tls,
            net::TlsClientContext::create(clock, {.ca_pem = {}, .trust = net::Trust::kSystem}));
    }
    return run_to_end(
        context, post_until_taken(context.get_executor(), clock, url, std::move(body), tls.get()));
}

/// A file in memory, read from its beginning.
Result<UniqueFd> input_of(std::string_view text) {
    UniqueFd file(::memfd_create("notification", MFD_CLOEXEC));
    if (!file ||
        ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
        ::lseek(file.get(), 0, SEEK_SET) < 0)
        return system_error("making the input of the command", errno);
    return file;
}

Result<void> wait_for_command(pid_t child) {
    const UniqueFd handle(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
    pollfd ended{.fd = handle.get(), .events = POLLIN, .revents = 0};
    int ready = 0;
    do {
        ready = ::poll(&ended, 1, kCommandMilliseconds);
    } while (ready < 0 && errno == EINTR);
    if (ready == 0) ::kill(-child, SIGKILL);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (ready == 0)
        return Error(Code::kTimeout, "the command did not end within 30 s, and was killed");
    if (WIFSIGNALED(status))
        return Error(Code::kInternal, "the command was killed by " + signal_name(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        return Error(Code::kInternal,
                     fmt::format("the command ended with status {}", WEXITSTATUS(status)));
    return {};
}

Result<void> notify_command(const std::string& command, const RunRecord& record,
                            const std::string& body, const control_plane::Caller& caller) {
    TRY(const UniqueFd input, input_of(body));
    std::vector<std::string> environment = caller.environment;
    environment.push_back("MUSTER_RUN=" + record.name);
    environment.push_back("MUSTER_RESULT=" + record.end->result);
    environment.push_back(fmt::format("MUSTER_EXIT_STATUS={}", record.end->status));
    std::vector<char*> variables;
    for (std::string& variable : environment) variables.push_back(variable.data());
    variables.push_back(nullptr);
    std::array<std::string, 3> words{"sh", "-c", command};
    std::array<char*, 4> arguments{words[0].data(), words[1].data(), words[2].data(), nullptr};

    posix_spawn_file_actions_t files{};
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, input.get(), STDIN_FILENO);
    // What it prints is beside the output of the run.
    ::posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    posix_spawnattr_t attributes{};
    ::posix_spawnattr_init(&attributes);
    sigset_t defaults{};
    ::sigemptyset(&defaults);
    ::sigaddset(&defaults, SIGPIPE);
    ::posix_spawnattr_setsigdefault(&attributes, &defaults);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    pid_t child = 0;
    const int failed =
        ::posix_spawn(&child, "/bin/sh", &files, &attributes, arguments.data(), variables.data());
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
    if (failed != 0) return system_error("starting the command", failed);
    return wait_for_command(child);
}

}  // namespace

Result<void> notify(const std::string& to, const RunRecord& record,
                    const control_plane::Caller& caller) {
    std::string body = notification_body(record, name_of_machine());
    if (is_notification_url(to)) return notify_url(to, std::move(body));
    return notify_command(to, record, body, caller);
}

}  // namespace muster::cli
