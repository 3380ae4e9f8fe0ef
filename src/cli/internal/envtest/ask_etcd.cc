#include "cli/internal/envtest/ask_etcd.h"

#include <fmt/format.h>

#include <algorithm>

#include "net/http/call_once.h"

namespace muster::cli {

namespace {

constexpr Duration kUntilEtcdAnswers = std::chrono::seconds(20);
constexpr Duration kOneQuestion = std::chrono::seconds(2);
constexpr Duration kShortestPause = std::chrono::milliseconds(20);
constexpr Duration kLongestPause = std::chrono::seconds(1);
constexpr std::size_t kLongestAnswer = 64 * 1024;

std::string url_of(const control_plane::ListenAddress& server) {
    const bool v6 = server.address.find(':') != std::string::npos;
    return fmt::format(fmt::runtime(v6 ? "http://[{}]:{}" : "http://{}:{}"), server.address,
                       server.port);
}

Task<Result<StorePlace>> ask_one(asio::any_io_executor executor, Clock& clock,
                                 control_plane::ListenAddress server) {
    net::HttpRequest request;
    request.target = kStorePlacePath;
    const Result<net::HttpResponse> answer = co_await net::call_once(
        executor, clock, net::tcp_connector(executor, server.address, server.port),
        {.connect_time = kOneQuestion, .body_bytes = kLongestAnswer}, std::move(request),
        kOneQuestion);
    if (!answer) co_return Error(answer.error()).prefix(url_of(server));
    auto place = read_store_place(answer->body);
    if (answer->status == 200 && place) co_return place;
    co_return Error(
        Code::kInvalid,
        fmt::format("--etcd-servers {}: that is another program, which answers {}; this "
                    "kube-apiserver needs the etcd that 'muster envtest' puts beside it",
                    url_of(server), answer->status));
}

}  // namespace

Task<Result<StorePlace>> ask_etcd(asio::any_io_executor executor, Clock& clock,
                                  std::vector<control_plane::ListenAddress> servers) {
    const Instant limit = clock.now() + kUntilEtcdAnswers;
    Duration pause = kShortestPause;
    Error last(Code::kUnavailable, "--etcd-servers is empty");
    while (!servers.empty()) {
        for (const control_plane::ListenAddress& server : servers) {
            Result<StorePlace> place = co_await ask_one(executor, clock, server);
            if (place || place.error().code() == Code::kInvalid) co_return place;
            last = place.error();
        }
        if (clock.now() + pause >= limit) break;
        co_await clock.sleep_for(pause);
        pause = std::min(pause * 2, kLongestPause);
    }
    co_return last.prefix("no etcd answers; is the one of --etcd-servers running?");
}

}  // namespace muster::cli
