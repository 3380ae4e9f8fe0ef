#include "cli/internal/operator/health_front.h"

#include <fmt/format.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <iterator>

#include "control_plane/process_metrics.h"

namespace muster::cli {

namespace {

constexpr std::string_view kText = "text/plain; charset=utf-8";

/// Without the query.
std::string_view path_of(const net::HttpRequest& request) {
    return std::string_view(request.target).substr(0, request.target.find('?'));
}

void answer(net::HttpExchange& exchange, unsigned status, std::string body,
            std::string_view type = kText) {
    net::HttpHeaders headers;
    headers.add("Content-Type", type);
    exchange.respond(status, std::move(headers), std::move(body));
}

bool is_read(const net::HttpRequest& request) {
    return request.method == "GET" || request.method == "HEAD";
}

std::string readiness(const operators::Replica& replica) {
    std::string said = "ok\n";
    for (const operators::Unserved& resource : replica.unserved())
        said += fmt::format("not served: {}: {}\n", resource.resource, resource.why);
    return said;
}

/// In Prometheus' text format, with this process's own.
std::string text_of(const control_plane::OperatorMetrics& metrics) {
    std::vector<prometheus::MetricFamily> all = metrics.collect();
    std::ranges::move(control_plane::process_metrics(), std::back_inserter(all));
    return prometheus::TextSerializer().Serialize(all);
}

}  // namespace

Task<void> answer_health(net::HttpExchange& exchange, const operators::Replica& replica) {
    const net::HttpRequest& request = exchange.request();
    const std::string_view path = path_of(request);
    if (!is_read(request)) {
        answer(exchange, 405, "only GET\n");
    } else if (path == "/healthz" || path == "/livez") {
        answer(exchange, 200, "ok\n");
    } else if (path == "/readyz") {
        const std::string why = replica.not_ready();
        if (why.empty())
            answer(exchange, 200, readiness(replica));
        else
            answer(exchange, 503, why + "\n");
    } else {
        answer(exchange, 404, "/healthz, /livez and /readyz are here\n");
    }
    co_return;
}

Task<void> answer_metrics(net::HttpExchange& exchange, const operators::Replica& replica,
                          control_plane::OperatorMetrics& metrics) {
    const net::HttpRequest& request = exchange.request();
    if (!is_read(request)) {
        answer(exchange, 405, "only GET\n");
    } else if (path_of(request) == "/metrics") {
        metrics.look_at(replica);
        answer(exchange, 200, text_of(metrics), "text/plain; version=0.0.4; charset=utf-8");
    } else {
        answer(exchange, 404, "/metrics is here\n");
    }
    co_return;
}

}  // namespace muster::cli
