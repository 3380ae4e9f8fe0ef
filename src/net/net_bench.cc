// Keep-alive requests a second over loopback, plain and over TLS: one server process, one client
// process with 32 connections, answers of 1.5 KB. CPU time of the server is what counts: the
// clients are as cheap as they can be, and on a machine of two cores both are busy.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/real_clock.h"
#include "base/task_group.h"
#include "net/http_server.h"
#include "net/tcp.h"
#include "net/tls_fixture.h"

namespace muster::net {
namespace {

constexpr int kConnections = 32;
constexpr std::size_t kBody = 1500;

/// Of this process, in seconds.
struct CpuTime {
    double user = 0;
    double system = 0;

    static CpuTime now() {
        rusage usage{};
        ::getrusage(RUSAGE_SELF, &usage);
        const auto seconds = [](const timeval& time) {
            return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
        };
        return {.user = seconds(usage.ru_utime), .system = seconds(usage.ru_stime)};
    }
};

template <class T>
T must(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message());
    return *std::move(result);
}

const std::string kRequest =
    "GET /api/v1/namespaces/default/pods/job-worker-17 HTTP/1.1\r\n"
    "Host: 127.0.0.1:6443\r\nUser-Agent: bench\r\nAccept: application/json\r\n"
    "Authorization: Bearer 0123456789abcdef0123456789abcdef\r\nAccept-Encoding: gzip\r\n\r\n";

/// Sends a request and waits for the answer, whose size is that of the first one.
Task<void> ask(asio::any_io_executor executor, std::uint16_t port, TlsClientContext* tls,
               int count) {
    auto stream = must(co_await connect_tcp(executor, "127.0.0.1", port));
    if (tls != nullptr) stream = must(co_await tls->connect(std::move(stream), "127.0.0.1"));
    std::string answer(16'384, '\0');
    std::size_t whole = 0;
    for (int i = 0; i < count; ++i) {
        if (auto sent = co_await stream->write(asio::buffer(kRequest)); !sent)
            throw std::runtime_error(sent.error().message());
        std::size_t size = 0;
        do {
            size += must(co_await stream->read_some(
                asio::buffer(answer.data() + size, answer.size() - size)));
            if (whole == 0) {
                const std::size_t head = answer.find("\r\n\r\n");
                if (head < size && size >= head + 4 + kBody) whole = size;
            }
        } while (whole == 0 || size < whole);
    }
}

Task<void> answered() { co_return; }

int run_clients(std::uint16_t port, bool tls, int count) {
    asio::io_context context(1);
    RealClock real;
    FixedCalendar clock(real);
    std::unique_ptr<TlsClientContext> secured;
    if (tls) secured = TlsFixture::get().client_context(clock);
    TaskGroup tasks(context.get_executor());
    for (int i = 0; i < kConnections; ++i)
        tasks.spawn("client",
                    ask(context.get_executor(), port, secured.get(), count / kConnections));
    context.run();
    return 0;
}

/// Serves until the clients have ended, and prints what it cost.
void measure(const char* name, bool tls, int count) {
    asio::io_context context(1);
    RealClock real;
    FixedCalendar clock(real);
    const std::string body(kBody, 'x');
    HttpServer server(context.get_executor(), clock, {}, [&body](HttpExchange& exchange) {
        exchange.respond(200, {{"Content-Type", "application/json"}}, body);
        return answered();
    });
    auto listener = must(listen_tcp(context.get_executor(), "127.0.0.1", 0));
    const std::string address = listener->address();
    const auto port =
        static_cast<std::uint16_t>(std::atoi(address.c_str() + address.find(':') + 1));
    std::unique_ptr<TlsServerContext> secured;
    if (tls) secured = TlsFixture::get().server_context(clock);
    server.serve(std::move(listener), secured.get());

    std::fflush(stdout);
    const pid_t clients = ::fork();
    if (clients == 0) {
        context.notify_fork(asio::io_context::fork_child);
        ::_exit(run_clients(port, tls, count));
    }
    const Instant began = clock.now();
    const CpuTime cpu_began = CpuTime::now();
    int status = 0;
    while (::waitpid(clients, &status, WNOHANG) == 0)
        context.run_for(std::chrono::milliseconds(50));
    const double wall = std::chrono::duration<double>(clock.now() - began).count();
    const CpuTime cpu = CpuTime::now();
    const double user = cpu.user - cpu_began.user;
    const double system = cpu.system - cpu_began.system;
    if (status != 0) throw std::runtime_error("the clients failed");
    std::printf(
        "%-6s %7.0f requests/s; a request costs the server %.1f us of user and %.1f us of system "
        "time: %7.0f a second of a core\n",
        name, count / wall, user / count * 1e6, system / count * 1e6, count / (user + system));

    TaskGroup end(context.get_executor());
    end.spawn("stop", server.stop());
    context.restart();
    context.run();
}

}  // namespace
}  // namespace muster::net

int main(int argc, char** argv) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 320'000;
    (void)muster::net::TlsFixture::get();  // before the processes part
    muster::net::measure("plain", false, count);
    muster::net::measure("tls", true, count);
    return 0;
}
