// Keep-alive requests per second over loopback, plain and over TLS: one server process, one client
// process with 32 connections, answers of 1.5 KB. The server's CPU time is what counts: the clients
// are as cheap as possible, and on a machine of two cores both are busy. Then the memory that an
// idle connection holds after it has served a request.
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "base/async/task_group.h"
#include "base/time/real_clock.h"
#include "net/http/http_server.h"
#include "net/tcp.h"
#include "net/tls/tls_fixture.h"

namespace muster::net {
namespace {

constexpr int kConnections = 32;
constexpr int kIdle = 2000;
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

/// Sends a request and waits for the answer, whose size is that of the first one; `count` times,
/// and then, with `hold`, waits until the server ends.
Task<void> ask(asio::any_io_executor executor, std::uint16_t port, TlsClientContext* tls, int count,
               bool hold) {
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
    if (hold) (void)co_await stream->read_some(asio::buffer(answer));
}

Task<void> answered() { co_return; }

/// A server, and a client process whose `connections` connections send `count` requests each.
class Bench {
  public:
    explicit Bench(bool tls)
        : server_(context_.get_executor(), clock_, {}, [this](HttpExchange& exchange) {
              ++requests_;
              exchange.respond(200, {{"Content-Type", "application/json"}}, body_);
              return answered();
          }) {
        auto listener = must(listen_tcp(context_.get_executor(), "127.0.0.1", 0));
        const std::string address = listener->address();
        port_ = static_cast<std::uint16_t>(std::atoi(address.c_str() + address.find(':') + 1));
        if (tls) secured_ = TlsFixture::get().server_context(clock_);
        server_.serve(std::move(listener), secured_.get());
    }
    ~Bench() {
        TaskGroup end(context_.get_executor());
        end.spawn("stop", server_.stop());
        context_.restart();
        context_.run();
    }
    Bench(const Bench&) = delete;
    Bench& operator=(const Bench&) = delete;

    void start_clients(int connections, int count, bool hold) {
        std::fflush(stdout);
        clients_ = ::fork();
        if (clients_ != 0) return;
        asio::io_context context(1);
        std::unique_ptr<TlsClientContext> trusting;
        if (secured_) trusting = TlsFixture::get().client_context(clock_);
        TaskGroup tasks(context.get_executor());
        for (int i = 0; i < connections; ++i)
            tasks.spawn("client", ask(context.get_executor(), port_, trusting.get(), count, hold));
        context.run();
        ::_exit(0);
    }
    void serve_until_clients_end() {
        int status = 0;
        while (::waitpid(clients_, &status, WNOHANG) == 0)
            context_.run_for(std::chrono::milliseconds(50));
        if (status != 0) throw std::runtime_error("the clients failed");
    }
    void serve_until(int requests) {
        while (requests_ < requests || context_.poll() > 0)
            context_.run_for(std::chrono::milliseconds(50));
    }
    void end_clients() {
        ::kill(clients_, SIGKILL);
        ::waitpid(clients_, nullptr, 0);
    }
    Instant now() const { return clock_.now(); }

  private:
    asio::io_context context_{1};
    RealClock real_;
    FixedCalendar clock_{real_};
    const std::string body_ = std::string(kBody, 'x');
    int requests_ = 0;
    std::uint16_t port_ = 0;
    std::unique_ptr<TlsServerContext> secured_;
    HttpServer server_;
    pid_t clients_ = -1;
};

void measure_rate(const char* name, bool tls, int count) {
    Bench bench(tls);
    bench.start_clients(kConnections, count / kConnections, false);
    const Instant began = bench.now();
    const CpuTime cpu_began = CpuTime::now();
    bench.serve_until_clients_end();
    const double wall = std::chrono::duration<double>(bench.now() - began).count();
    const CpuTime cpu = CpuTime::now();
    const double user = cpu.user - cpu_began.user;
    const double system = cpu.system - cpu_began.system;
    std::printf(
        "%-6s %7.0f requests/s; a request costs the server %.1f us of user and %.1f us of system "
        "time: %7.0f a second of a core\n",
        name, count / wall, user / count * 1e6, system / count * 1e6, count / (user + system));
}

void measure_idle(const char* name, bool tls) {
    Bench bench(tls);
    const std::size_t before = ::mallinfo2().uordblks;
    bench.start_clients(kIdle, 1, true);
    bench.serve_until(kIdle);
    const std::size_t held = ::mallinfo2().uordblks - before;
    std::printf("%-6s an idle connection holds %zu bytes\n", name, held / kIdle);
    bench.end_clients();
}

}  // namespace
}  // namespace muster::net

int main(int argc, char** argv) {
    const int count = argc > 1 ? std::atoi(argv[1]) : 320'000;
    (void)muster::net::TlsFixture::get();  // before the processes separate
    muster::net::measure_rate("plain", false, count);
    muster::net::measure_rate("tls", true, count);
    muster::net::measure_idle("plain", false);
    muster::net::measure_idle("tls", true);
    return 0;
}
