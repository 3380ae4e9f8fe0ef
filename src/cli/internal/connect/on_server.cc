#include "cli/internal/connect/on_server.h"

#include <fmt/format.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>

#include "base/time/real_clock.h"
#include "base/visible_text.h"

namespace muster::cli {

namespace {

Task<Result<int>> work_and_stop(Connection& connection, const ServerWork& work) {
    Result<int> done = co_await work(connection);
    co_await connection.stop();
    co_return done;
}

}  // namespace

std::string advice(const Error& error, const kube::ClientConfig& access) {
    const std::string whom =
        fmt::format("{}, context \"{}\" of {}", access.url.text(), access.context, access.file);
    if (error.code() == Code::kUnavailable || error.code() == Code::kTimeout)
        return fmt::format(
            "\n  the server is {}{}", whom,
            access.context == "muster" ? "\n  'muster status' shows whether it is up" : "");
    if (error.code() == Code::kUnauthorized)
        return fmt::format(
            "\n  the server is {}; it does not know user \"{}\" by these "
            "credentials, or its certificate is not trusted",
            whom, access.user);
    return {};
}

void tell_error(const std::string& verb, const Error& error) {
    std::fflush(stdout);
    fmt::print(stderr, "muster {}: {}\n", verb, visible_text(error.message()));
}

int on_server(const std::string& verb, const ServerOptions& options, const ServerWork& work) {
    const control_plane::Caller caller = control_plane::current_caller();
    RealClock clock;
    asio::io_context context(1);
    auto connection = Connection::open(options, caller, context.get_executor(), clock);
    if (!connection) {
        tell_error(verb, connection.error());
        return 1;
    }
    asio::signal_set signals(context, SIGINT, SIGTERM, SIGHUP);
    asio::cancellation_signal cancel;
    int stopped_by = 0;
    signals.async_wait([&](boost::system::error_code failed, int signal) {
        if (failed) return;
        stopped_by = signal;
        cancel.emit(asio::cancellation_type::terminal);
    });
    int status = 1;
    asio::co_spawn(
        context, work_and_stop(**connection, work),
        asio::bind_cancellation_slot(cancel.slot(), [&](std::exception_ptr thrown,
                                                        Result<int> done) {
            signals.cancel();
            if (thrown && stopped_by == 0) std::rethrow_exception(thrown);
            if (stopped_by != 0) {
                status = 128 + stopped_by;
                // What the cancelled work could not do any more.
                if (thrown)
                    asio::co_spawn(context, (**connection).stop(), [](std::exception_ptr failed) {
                        if (failed) std::rethrow_exception(failed);
                    });
            } else if (done) {
                status = *done;
            } else {
                tell_error(verb, Error(done.error().code(),
                                       done.error().message() +
                                           advice(done.error(), (**connection).access())));
            }
        }));
    context.run();
    return status;
}

}  // namespace muster::cli
