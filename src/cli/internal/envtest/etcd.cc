#include "cli/internal/envtest/etcd.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "base/async/run_to_end.h"
#include "base/time/real_clock.h"
#include "cli/internal/envtest/etcd_flags.h"
#include "net/tcp.h"

namespace muster::cli {

namespace {

constexpr std::string_view kJsonAnswer = "application/json";
constexpr std::string_view kPlainAnswer = "text/plain; charset=utf-8";
constexpr std::string_view kEtcdVersion = "3.5.21";

void answer_etcd(net::HttpExchange& exchange, unsigned status, std::string_view type,
                 std::string body) {
    net::HttpHeaders headers;
    headers.add("Content-Type", type);
    exchange.respond(status, std::move(headers), std::move(body));
}

int etcd_failed(const Error& error) {
    fmt::print(stderr, "etcd (muster): {}\n", error.message());
    return 1;
}

/// etcd makes its directory private, and so do we.
Result<StorePlace> make_place(const EtcdOptions& options) {
    std::error_code error;
    const std::filesystem::path path = std::filesystem::absolute(options.data_dir, error);
    const bool fresh = !std::filesystem::exists(path, error);
    std::filesystem::create_directories(path, error);
    if (error)
        return Error(system_error("making it", error.value()))
            .prefix("--data-dir " + options.data_dir);
    if (fresh) std::filesystem::permissions(path, std::filesystem::perms::owner_all, error);
    return StorePlace{path.string(), options.sync};
}

Task<int> serve_etcd(asio::any_io_executor executor, Clock& clock, EtcdOptions options,
                     StorePlace place) {
    net::HttpServer server(executor, clock, {.body_bytes = 0},
                           [&place](net::HttpExchange& exchange) -> Task<void> {
                               return answer_as_etcd(exchange, place);
                           });
    for (const control_plane::ListenAddress& where : options.listen) {
        auto listener = net::listen_tcp(executor, where.address, where.port);
        if (!listener) {
            co_await server.stop();
            co_return etcd_failed(listener.error().prefix("--listen-client-urls"));
        }
        server.serve(*std::move(listener));
    }
    asio::signal_set signals(executor, SIGINT, SIGTERM);
    co_await signals.async_wait(asio::use_awaitable);
    co_await server.stop();
    co_return 0;
}

}  // namespace

Task<void> answer_as_etcd(net::HttpExchange& exchange, const StorePlace& place) {
    const net::HttpRequest& request = exchange.request();
    const std::string_view path = request.path();
    if (request.method != "GET" && request.method != "HEAD")
        answer_etcd(exchange, 405, kPlainAnswer, "Method Not Allowed\n");
    else if (path == "/health")
        answer_etcd(exchange, 200, kJsonAnswer, R"({"health":"true","reason":""})");
    else if (path == "/livez" || path == "/readyz")
        answer_etcd(exchange, 200, kPlainAnswer, "ok\n");
    else if (path == "/version")
        answer_etcd(exchange, 200, kJsonAnswer,
                    fmt::format(R"({{"etcdserver":"{}","etcdcluster":"3.5.0"}})", kEtcdVersion));
    else if (path == kStorePlacePath)
        answer_etcd(exchange, 200, kJsonAnswer, store_place_text(place));
    else
        answer_etcd(exchange, 404, kPlainAnswer, "404 page not found\n");
    co_return;
}

int run_etcd(const std::vector<std::string>& words) {
    const auto given = parse_go_flags(GoFlagStyle::kStandard, "etcd", etcd_flags(), words);
    if (given && given->has("help")) {
        fmt::print("{}", etcd_help());
        return 0;
    }
    if (given && given->on("version")) {
        fmt::print("etcd Version: {}\nmuster, which serves no keys and values\n", kEtcdVersion);
        return 0;
    }
    auto options = given ? read_etcd_flags(*given) : Result<EtcdOptions>(given.error());
    if (!options) return etcd_failed(options.error());
    auto place = make_place(*options);
    if (!place) return etcd_failed(place.error());
    for (const std::string& flag : options->without_effect)
        fmt::print(stderr, "etcd (muster): {} has no effect\n", flag);
    std::signal(SIGPIPE, SIG_IGN);  // a client that goes away is seen as a failed write
    RealClock clock;
    asio::io_context context(1);
    return run_to_end(
        context, serve_etcd(context.get_executor(), clock, *std::move(options), *std::move(place)));
}

}  // namespace muster::cli
