#include "apiserver/internal/webhooks/webhook_call.h"

#include "apiserver/internal/webhooks/service_place.h"

namespace muster::apiserver {

Task<Result<std::string>> call_webhook(ServerState& state, WebhookEndpoint endpoint,
                                       std::string body, Duration time) {
    if (state.webhooks == nullptr)
        co_return Error(Code::kUnsupported, "this server does not call webhooks");
    const std::string url = endpoint.url(time);
    auto target = co_await with_place(state, std::move(endpoint));
    if (!target)
        co_return Error(target.error().code(),
                        fmt::format("Post \"{}\": {}", url, target.error().message()));
    co_return co_await state.webhooks->post(*std::move(target), std::move(body), time);
}

}  // namespace muster::apiserver
