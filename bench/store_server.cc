// Serves torch's store as agents do, until its input ends: for real clients of torch, in tests and
// beside torch's own server. store_server [PORT]; prints its port.

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <cstdio>
#include <cstdlib>

#include "agent/store/server.h"
#include "base/real_clock.h"
#include "base/task_group.h"
#include "net/tcp.h"

using namespace muster;

namespace {

Task<void> serve(agent::StoreServer& server, asio::io_context& context) {
    asio::posix::stream_descriptor input(context, ::dup(STDIN_FILENO));
    char byte = 0;
    boost::system::error_code ended;
    while (!ended)
        co_await input.async_read_some(asio::buffer(&byte, 1),
                                       asio::redirect_error(asio::use_awaitable, ended));
    co_await server.stop();
}

}  // namespace

int main(int argc, char** argv) {
    asio::io_context context(1);
    const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0);
    auto listener = net::listen_tcp(context.get_executor(), "127.0.0.1", port);
    if (!listener) {
        std::fprintf(stderr, "store_server: %s\n", listener.error().message().c_str());
        return 1;
    }
    const std::string address = (*listener)->address();
    RealClock clock;
    agent::StoreServer server(context.get_executor(), clock,
                              [](const std::string&) { return true; });
    server.serve(*std::move(listener));
    TaskGroup tasks(context.get_executor());
    tasks.spawn("store server", serve(server, context));
    std::printf("%s\n", address.substr(address.rfind(':') + 1).c_str());
    std::fflush(stdout);
    context.run();
    return 0;
}
