#include "kube/leader_transport.h"

#include <fmt/format.h>

namespace muster::kube {

Task<Result<Response>> LeaderTransport::call(Request request) {
    if (request.method != Method::kGet && !leadership_.leads()) {
        const std::string holder = leadership_.holder();
        co_return Error(Code::kCancelled, fmt::format("{} was not sent: {} leads now", request.path,
                                                      holder.empty() ? "nobody" : holder));
    }
    co_return co_await transport_.call(std::move(request));
}

}  // namespace muster::kube
