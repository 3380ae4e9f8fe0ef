#include "kube/transport/outage_detecting_transport.h"

#include "kube/objects/api_status.h"

namespace muster::kube {
namespace {

/// If a request is lost while others are answered, that says nothing about the server.
constexpr Duration kAway = std::chrono::seconds(1);

}  // namespace

OutageDetectingTransport::OutageDetectingTransport(Transport& transport, Clock& clock,
                                                   std::function<void()> back)
    : transport_(transport), clock_(clock), back_(std::move(back)) {}

Task<Result<Response>> OutageDetectingTransport::call(Request request) {
    Result<Response> answer = co_await transport_.call(std::move(request));
    if (answer ? answer->status == 503 : is_unanswered(answer.error()))
        missed();
    else
        answered();
    co_return answer;
}

Task<Result<std::unique_ptr<WatchStream>>> OutageDetectingTransport::watch(Request request) {
    Result<std::unique_ptr<WatchStream>> stream = co_await transport_.watch(std::move(request));
    if (!stream && is_unanswered(stream.error()))
        missed();
    else
        answered();
    co_return stream;
}

Task<Result<std::unique_ptr<TextStream>>> OutageDetectingTransport::stream_text(Request request) {
    return transport_.stream_text(std::move(request));
}

void OutageDetectingTransport::missed() {
    if (!away_since_) away_since_ = clock_.now();
}

void OutageDetectingTransport::answered() {
    if (!away_since_) return;
    const bool was_away = clock_.now() - *away_since_ >= kAway;
    away_since_.reset();
    if (was_away) back_();
}

}  // namespace muster::kube
