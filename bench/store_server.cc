// Serves torch's store as muster-run does on a node, until its input ends: for real clients of
// torch, in tests and beside torch's own server. store_server [PORT]; prints its port. At each byte
// of its input it resets the store, as for the next attempt of a job, and reports that.

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/async/task_group.h"
#include "base/time/real_clock.h"
#include "muster_run/node/node_store.h"

using namespace muster;

namespace {

void say(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
}

Task<void> serve(run::NodeStore& store, asio::io_context& context) {
    asio::posix::stream_descriptor input(context, ::dup(STDIN_FILENO));
    for (;;) {
        char byte = 0;
        boost::system::error_code ended;
        co_await input.async_read_some(asio::buffer(&byte, 1),
                                       asio::redirect_error(asio::use_awaitable, ended));
        if (ended) break;
        store.begin({});
        say("anew");
    }
    co_await store.stop();
}

}  // namespace

int main(int argc, char** argv) {
    asio::io_context context(1);
    RealClock clock;
    const auto port = static_cast<std::uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0);
    auto store =
        run::NodeStore::open(context.get_executor(), clock, port, {}, run::StoreReach::kWorld);
    if (!store) {
        std::fprintf(stderr, "store_server: %s\n", store.error().message().c_str());
        return 1;
    }
    TaskGroup tasks(context.get_executor());
    tasks.spawn("store server", serve(**store, context));
    say(std::to_string((*store)->port()));
    context.run();
    return 0;
}
