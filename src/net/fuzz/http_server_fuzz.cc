// The first byte selects the size of the pieces into which the rest is cut, and whether the client
// ends its side after it; the rest is what a client sends. The server must answer with something
// that a client can read, or close, and have nothing left afterwards.

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/async/task_group.h"
#include "base/check.h"
#include "base/log.h"
#include "base/time/sim_clock.h"
#include "base/unexpected.h"
#include "net/http/http_server.h"
#include "net/internal/http/http_parser.h"
#include "net/memory_stream.h"

using namespace muster;
using namespace muster::net;

namespace {

Task<void> handle(HttpExchange& exchange) {
    const std::string_view path = exchange.request().path();
    if (path == "/stream") {
        if (!co_await exchange.begin(200, {{"Content-Type", "text/plain"}})) co_return;
        if (!co_await exchange.write(exchange.request().body)) co_return;
        (void)co_await exchange.end();
    } else if (path == "/upgrade") {
        auto stream = co_await exchange.upgrade({{"Connection", "Upgrade"}, {"Upgrade", "x"}});
        if (stream) (void)co_await (*stream)->shut_down_write();
    } else if (path != "/none") {
        exchange.respond(200, {}, exchange.request().target + exchange.request().body);
    }
}

Task<void> send(ByteStream& stream, std::string bytes, std::size_t piece, bool end) {
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
        const auto sent = co_await stream.write(
            asio::buffer(bytes.data() + at, std::min(piece, bytes.size() - at)));
        if (!sent) co_return;
    }
    if (end) (void)co_await stream.shut_down_write();
}

Task<void> receive(ByteStream& stream, std::string& all, bool& ended) {
    std::string buffer(4096, '\0');
    for (;;) {
        const auto size = co_await stream.read_some(asio::buffer(buffer));
        if (!size || *size == 0) break;
        all.append(buffer, 0, *size);
    }
    ended = true;
}

/// Every answer but the last must be complete; the last one may be cut, and an upgrade ends them.
void check_answers(std::string_view bytes, bool heads) {
    HttpResponseParser parser({.head = 1 << 20, .body = SIZE_MAX});
    while (!bytes.empty()) {
        HttpResponse answer;
        parser.begin(answer, false);
        const auto used = parser.put(bytes);
        // The answer to a HEAD has a length but no body, which only its client knows.
        if (heads) return;
        CHECK(used.has_value(), "the server's answers can be read");
        if (!parser.done()) return;
        CHECK(*used > 0, "a whole answer is made of bytes");
        if (answer.status == 101) return;
        bytes.remove_prefix(*used);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    log::set_level(log::Level::kOff);
    const UnexpectedEndsProcess ends;
    const std::size_t piece = (data[0] & 0x3f) == 0 ? 100'000 : data[0] & 0x3f;
    const std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);

    asio::io_context context(1);
    SimClock clock;
    HttpServer server(context.get_executor(), clock, {.head_bytes = 2000, .body_bytes = 5000},
                      with_body(handle));
    auto owned = std::make_unique<MemoryListener>(context.get_executor(), 700);
    MemoryListener& listener = *owned;
    server.serve(std::move(owned));
    auto client = *listener.connect();
    std::string answers;
    bool ended = false;
    TaskGroup tasks(context.get_executor());
    tasks.spawn("send", send(*client, bytes, piece, (data[0] & 0x40) != 0));
    tasks.spawn("receive", receive(*client, answers, ended));
    run_simulation(context, clock, clock.now() + std::chrono::hours(1));
    CHECK(ended, "a client that sends no more is ended some time");
    CHECK(server.connections() == 0, "no connection is left");
    check_answers(answers, bytes.find("HEAD") != std::string::npos);

    client->close();
    bool stopped = false;
    asio::co_spawn(context, server.stop(), [&](std::exception_ptr) { stopped = true; });
    run_simulation(context, clock, clock.now() + std::chrono::hours(1));
    CHECK(stopped, "a server without connections stops");
    CHECK(tasks.size() == 0, "its client has ended");
    return 0;
}
