#include "rsh/run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <cerrno>
#include <csignal>

#include "base/async/run_to_end.h"
#include "base/time/real_clock.h"
#include "net/tcp.h"
#include "rsh/server.h"

namespace muster::rsh {

namespace {

/// ssh's exit status if it was not the remote command that failed.
constexpr int kNotRun = 255;

int fail(std::string_view what) {
    fmt::print(stderr, "muster rsh: {}\n", what);
    return kNotRun;
}

/// If one of the first three descriptors were closed, it would be reused for something else.
void fill_first_descriptors() {
    for (;;) {
        const int fd = ::open("/dev/null", O_RDWR);
        if (fd < 0) return;
        if (fd > STDERR_FILENO) {
            ::close(fd);
            return;
        }
    }
}

/// A token is short: anything longer is not one.
Result<std::string> read_start(const std::string& file) {
    constexpr std::size_t kEnough = 4096;
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return system_error("cannot be read", errno);
    std::string text(kEnough, '\0');
    const ssize_t size = ::read(descriptor, text.data(), text.size());
    const int why = errno;
    ::close(descriptor);
    if (size < 0) return system_error("cannot be read", why);
    text.resize(static_cast<std::size_t>(size));
    return text;
}

Result<std::unique_ptr<net::SharedKeyTls>> read_token(const std::string& file) {
    Result<std::string> token = read_start(file);
    if (!token)
        return std::move(token.error().prefix(
            "the job's token (--token-file; a container that runs as another user than its pod "
            "says can't read it: set securityContext.runAsUser)"));
    while (token->ends_with('\n')) token->pop_back();
    auto keys = net::SharedKeyTls::create(*token, kPurpose);
    if (!keys) return std::move(keys.error().prefix(file));
    return keys;
}

Task<void> serve_until_told(Server& server, asio::signal_set& signals) {
    co_await signals.async_wait(asio::use_awaitable);
    co_await server.stop();
}

int serve(const Arguments& arguments, net::SharedKeyTls& keys,
          std::vector<std::string> environment) {
    asio::io_context context(1);
    RealClock clock;
    auto listener = arguments.listen.empty()
                        ? net::listen_tcp_everywhere(context.get_executor(), arguments.port)
                        : net::listen_tcp(context.get_executor(), arguments.listen, arguments.port);
    if (!listener) {
        const bool taken = listener.error().code() == Code::kAlreadyExists;
        return fail(fmt::format("{}{}", listener.error().message(),
                                taken ? "; where pods share their node's ports, give each job "
                                        "one of its own: annotation muster.dev/rsh-port"
                                      : ""));
    }
    Server server(context.get_executor(), clock, keys, {.environment = std::move(environment)});
    asio::signal_set signals(context, SIGTERM, SIGINT);
    server.start(*std::move(listener));
    run_to_end(context, serve_until_told(server, signals));
    return 0;
}

/// A signal simply ends this process: the connection breaks, and the command there is ended.
int run_there(const Arguments& arguments, net::SharedKeyTls& keys, Resolve resolve) {
    asio::io_context context(1);
    RealClock clock;
    ClientOptions to_host;
    to_host.host = arguments.host;
    to_host.port = arguments.port;
    to_host.command = arguments.command;
    to_host.patience = arguments.patience;
    if (!arguments.input) to_host.input = -1;
    to_host.resolve = std::move(resolve);
    const Result<int> status = run_to_end(context, run_at_host(clock, keys, std::move(to_host)));
    return status ? *status : fail(status.error().message());
}

}  // namespace

int run(const Arguments& arguments, std::vector<std::string> environment, Resolve resolve) {
    fill_first_descriptors();
    std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away shows as a failed write
    auto keys = read_token(arguments.token_file);
    if (!keys) return fail(keys.error().message());
    return arguments.serve ? serve(arguments, **keys, std::move(environment))
                           : run_there(arguments, **keys, std::move(resolve));
}

}  // namespace muster::rsh
