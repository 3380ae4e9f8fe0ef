#include "kube/transport/metered_transport.h"

#include <vector>

#include "kube/objects/api_status.h"

namespace muster::kube {
namespace {

std::vector<std::string_view> segments_of(std::string_view path) {
    std::vector<std::string_view> segments;
    while (!path.empty()) {
        const std::size_t slash = path.find('/');
        if (slash != 0) segments.push_back(path.substr(0, slash));
        if (slash == path.npos) break;
        path.remove_prefix(slash + 1);
    }
    return segments;
}

std::string_view verb_of(Method method, bool one, bool watches) {
    switch (method) {
        case Method::kGet:
            return watches ? "watch" : one ? "get" : "list";
        case Method::kPost:
            return "create";
        case Method::kPut:
            return "update";
        case Method::kPatch:
            return "patch";
        case Method::kDelete:
            return one ? "delete" : "deletecollection";
    }
    return "";
}

int code_of(const Error& error) {
    const bool no_answer = is_unanswered(error) || error.code() == Code::kCancelled;
    return no_answer ? 0 : http_status(error.code());
}

}  // namespace

RequestSeen describe_request(const Request& request, bool watches) {
    // api/VERSION/... or apis/GROUP/VERSION/..., then namespaces/NS/ or nothing, then
    // RESOURCE[/NAME[/SUBRESOURCE]].
    const std::vector<std::string_view> path = segments_of(request.path);
    std::size_t at = path.empty() ? 0 : path[0] == "api" ? 2 : path[0] == "apis" ? 3 : path.size();
    if (at + 2 < path.size() && path[at] == "namespaces") at += 2;
    RequestSeen seen{.verb = {}, .resource = {}};
    if (at < path.size()) seen.resource = path[at];
    const bool one = at + 1 < path.size();
    if (at + 2 < path.size()) (seen.resource += '/') += path[at + 2];
    seen.verb = verb_of(request.method, one || seen.resource.empty(), watches);
    return seen;
}

void MeteredTransport::tell(RequestSeen seen, Instant sent, int code) {
    seen.code = code;
    seen.took = clock_.now() - sent;
    seen_(seen);
}

Task<Result<Response>> MeteredTransport::call(Request request) {
    RequestSeen seen = describe_request(request);
    const Instant sent = clock_.now();
    Result<Response> answer = co_await transport_.call(std::move(request));
    tell(std::move(seen), sent, answer ? answer->status : code_of(answer.error()));
    co_return answer;
}

Task<Result<std::unique_ptr<WatchStream>>> MeteredTransport::watch(Request request) {
    RequestSeen seen = describe_request(request, true);
    const Instant sent = clock_.now();
    auto answer = co_await transport_.watch(std::move(request));
    tell(std::move(seen), sent, answer ? 200 : code_of(answer.error()));
    co_return answer;
}

Task<Result<std::unique_ptr<TextStream>>> MeteredTransport::stream_text(Request request) {
    RequestSeen seen = describe_request(request);
    const Instant sent = clock_.now();
    auto answer = co_await transport_.stream_text(std::move(request));
    tell(std::move(seen), sent, answer ? 200 : code_of(answer.error()));
    co_return answer;
}

}  // namespace muster::kube
