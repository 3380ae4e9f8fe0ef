#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "kube/transport/transport.h"

namespace muster::kube {

/// One request that has been answered, or never was.
struct RequestSeen {
    std::string_view verb;  ///< "get", "list", "watch", "create", "update", "patch", "delete"
    std::string
        resource;     ///< "pods", "pytorchjobs/status"; empty for a path that is not an object's
    int code = 0;     ///< HTTP status; 0: no answer
    Duration took{};  ///< until the answer; for a watch or a log until its first byte
};

/// Reports every request that passes through, for metrics. Refers to `transport` and `clock`.
/// Thread: theirs.
class MeteredTransport final : public Transport {
  public:
    using Seen = std::function<void(const RequestSeen&)>;

    MeteredTransport(Transport& transport, Clock& clock, Seen seen)
        : transport_(transport), clock_(clock), seen_(std::move(seen)) {}

    Task<Result<Response>> call(Request request) override;
    Task<Result<std::unique_ptr<WatchStream>>> watch(Request request) override;
    Task<Result<std::unique_ptr<TextStream>>> stream_text(Request request) override;

  private:
    void tell(RequestSeen seen, Instant sent, int code);

    Transport& transport_;
    Clock& clock_;
    Seen seen_;
};

/// The verb and resource of a request; code and time are left unset. Pure.
RequestSeen describe_request(const Request& request, bool watches = false);

}  // namespace muster::kube
