#include "net/http/call_once.h"

#include "base/async/then_stop.h"

namespace muster::net {

namespace {

Task<void> call(HttpClient& client, HttpRequest request, Duration time,
                Result<HttpResponse>& answer) {
    answer = co_await client.call(std::move(request), time);
}

}  // namespace

Task<Result<HttpResponse>> call_once(asio::any_io_executor executor, Clock& clock,
                                     HttpConnector connect, HttpClientOptions options,
                                     HttpRequest request, Duration time) {
    options.idle_connections = 0;
    HttpClient client(std::move(executor), clock, std::move(connect), std::move(options));
    Result<HttpResponse> answer = Error(Code::kCancelled, "whoever asked has gone");
    co_await then_stop(call(client, std::move(request), time, answer), client);
    co_return answer;
}

}  // namespace muster::net
