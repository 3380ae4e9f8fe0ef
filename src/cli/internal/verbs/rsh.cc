#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <exception>

#include "base/real_clock.h"
#include "cli/caller.h"
#include "cli/internal/verbs/verbs.h"
#include "cli/read_file.h"
#include "net/tcp.h"
#include "rsh/client.h"
#include "rsh/server.h"

namespace muster::cli {

namespace {

/// Of ssh, when it was not the remote command that failed.
constexpr int kNotRun = 255;

int fail(std::string_view what) {
    fmt::print(stderr, "muster rsh: {}\n", what);
    return kNotRun;
}

/// Whoever closed one of our first three descriptors would find it used for something else.
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

Result<std::unique_ptr<net::SharedKeyTls>> read_token(const std::string& file) {
    Result<std::string> token = read_file(file);
    if (!token)
        return std::move(token.error().prefix(
            "the job's token (--token-file; a container that runs as another user than its pod "
            "says can't read it: set securityContext.runAsUser)"));
    while (token->ends_with('\n')) token->pop_back();
    auto keys = net::SharedKeyTls::create(*token, rsh::kPurpose);
    if (!keys) return std::move(keys.error().prefix(file));
    return keys;
}

/// Both families, where there are two.
Result<std::unique_ptr<net::Listener>> listen(const asio::any_io_executor& executor,
                                              const RshOptions& options) {
    if (!options.listen.empty()) return net::listen_tcp(executor, options.listen, options.port);
    auto both = net::listen_tcp(executor, "::", options.port);
    if (both || both.error().code() == Code::kAlreadyExists) return both;
    return net::listen_tcp(executor, "0.0.0.0", options.port);
}

Task<void> serve_until_told(rsh::Server& server, asio::signal_set& signals) {
    co_await signals.async_wait(asio::use_awaitable);
    co_await server.stop();
}

int serve(const RshOptions& options, net::SharedKeyTls& keys) {
    asio::io_context context(1);
    RealClock clock;
    auto listener = listen(context.get_executor(), options);
    if (!listener) {
        const bool taken = listener.error().code() == Code::kAlreadyExists;
        return fail(fmt::format("{}{}", listener.error().message(),
                                taken ? "; where pods share their node's ports, give each job "
                                        "one of its own: annotation muster.dev/rsh-port"
                                      : ""));
    }
    rsh::Server server(context.get_executor(), clock, keys,
                       {.environment = current_caller().environment});
    asio::signal_set signals(context, SIGTERM, SIGINT);
    server.start(*std::move(listener));
    asio::co_spawn(context, serve_until_told(server, signals), [](std::exception_ptr thrown) {
        if (thrown) std::rethrow_exception(thrown);
    });
    context.run();
    return 0;
}

/// Stopped by a signal it just ends: the connection does, too, and so the command there.
int run_there(const RshOptions& options, net::SharedKeyTls& keys) {
    asio::io_context context(1);
    RealClock clock;
    std::optional<Result<int>> status;
    rsh::ClientOptions to_host;
    to_host.host = options.host;
    to_host.port = options.port;
    to_host.command = options.command;
    to_host.patience = options.patience;
    if (!options.input) to_host.input = -1;
    asio::co_spawn(context, rsh::run_at_host(clock, keys, std::move(to_host)),
                   [&](std::exception_ptr thrown, Result<int> result) {
                       if (thrown) std::rethrow_exception(thrown);
                       status.emplace(std::move(result));
                   });
    context.run();
    return *status ? **status : fail(status->error().message());
}

}  // namespace

int rsh(const RshOptions& options) {
    fill_first_descriptors();
    std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is seen as a failed write
    auto keys = read_token(options.token_file);
    if (!keys) return fail(keys.error().message());
    return options.serve ? serve(options, **keys) : run_there(options, **keys);
}

}  // namespace muster::cli
