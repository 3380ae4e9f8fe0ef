#include "kube/client/leader_transport.h"

#include <fmt/format.h>

#include <optional>

#include "base/async/first_of.h"

namespace muster::kube {

namespace {

Task<void> keep(Task<Result<Response>> task, std::optional<Result<Response>>& answer) {
    answer = co_await std::move(task);
}

Error deposed(const std::string& path, std::string_view what, const std::string& holder) {
    return Error(Code::kCancelled, fmt::format("{} {}: {} leads now", path, what,
                                               holder.empty() ? "no one" : holder));
}

}  // namespace

Task<Result<Response>> LeaderTransport::call(Request request) {
    if (request.method == Method::kGet) co_return co_await transport_.call(std::move(request));
    const std::string path = request.path;
    if (!leadership_.leads()) co_return deposed(path, "was not sent", leadership_.holder());
    // A process that slept through its end may send what had yet to get a connection before it
    // learns that another one leads.
    request.send_before = leadership_.leads_until();
    std::optional<Result<Response>> answer;
    co_await first_of(keep(transport_.call(std::move(request)), answer), leadership_.lost());
    if (!answer) co_return deposed(path, "was given up", leadership_.holder());
    co_return *std::move(answer);
}

}  // namespace muster::kube
