#include "apiserver_http/internal/streams/web_socket_life.h"

#include "base/async/first_of.h"
#include "base/time/time_limit.h"

namespace muster::apiserver_http {

namespace {

constexpr Duration kBetweenPings = std::chrono::seconds(5);
constexpr Duration kFarewell = std::chrono::seconds(10);

Task<void> keep_asking(net::WebSocket& socket, Clock& clock) {
    do co_await clock.sleep_for(kBetweenPings);
    while (co_await socket.ping(""));
}

Task<bool> read_to_the_end(net::WebSocket& socket) {
    for (;;) {
        const auto message = co_await socket.read();
        if (!message || !*message) co_return true;
    }
}

}  // namespace

Task<void> while_client_lives(net::WebSocket& socket, Task<void> task, Clock& clock) {
    co_await first_of(std::move(task), keep_asking(socket, clock));
}

Task<void> hear_farewell(net::WebSocket& socket, Clock& clock) {
    std::ignore = co_await within(clock, kFarewell, read_to_the_end(socket));
}

}  // namespace muster::apiserver_http
