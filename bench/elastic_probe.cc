// A client of a job's master that wants nothing but to know when one is in charge.

#include <boost/asio/io_context.hpp>

#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/real_clock.h"
#include "elastic_bench.h"
#include "net/tcp.h"
#include "rpc/client.h"

namespace muster::elastic {
namespace {

/// A master answers when it has claimed its epoch.
Task<void> tell_connections(Clock& clock, rpc::Client& client) {
    for (std::uint64_t last = 0;;) {
        if (client.ended()) die("the master refuses the probe: " + client.ended()->message());
        if (client.connected() && client.connection() != last) {
            last = client.connection();
            report("in charge", seconds(clock.now()));
        }
        co_await client.changed();
    }
}

Task<void> probe(asio::any_io_executor executor, int port, std::string token) {
    RealClock clock;
    Rng rng = Rng::from_system();
    TaskGroup tasks(executor);
    rpc::Client client(
        [&] { return net::connect_tcp(executor, "127.0.0.1", static_cast<std::uint16_t>(port)); },
        clock, rng, tasks,
        {.token = std::move(token),
         .name = rng.uuid(),
         .about = "a probe",
         .limits = {.first_retry = std::chrono::milliseconds(1),
                    .most_retry = std::chrono::milliseconds(2)}});
    client.start();
    TaskGroup tells(executor);
    tells.spawn("tell", tell_connections(clock, client));
    Commands commands(executor);
    while (co_await commands.next() != '\0') continue;
    co_await tells.stop();
    co_await tasks.stop();
}

}  // namespace

void probe_master(int port, const std::string& token) {
    asio::io_context context(1);
    TaskGroup tasks(context.get_executor());
    tasks.spawn("probe", probe(context.get_executor(), port, token));
    context.run();
}

}  // namespace muster::elastic
