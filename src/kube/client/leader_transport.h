#pragma once

#include "kube/client/leadership.h"
#include "kube/transport/transport.h"

namespace muster::kube {

/// Sends writes only while we lead; reads always. A write that comes too late is refused with
/// kCancelled and had no effect; one that is in flight when leadership is lost is given up with the
/// same code, and may have had one. The sender is being stopped then. Kubernetes hands out no
/// fencing token that a server could check, so the sender keeps to its own deadline.
///
/// Refers to both. Thread: theirs.
class LeaderTransport final : public Transport {
  public:
    LeaderTransport(Transport& transport, Leadership& leadership)
        : transport_(transport), leadership_(leadership) {}

    Task<Result<Response>> call(Request request) override;
    Task<Result<std::unique_ptr<WatchStream>>> watch(Request request) override {
        return transport_.watch(std::move(request));
    }
    Task<Result<std::unique_ptr<TextStream>>> stream_text(Request request) override {
        return transport_.stream_text(std::move(request));
    }

  private:
    Transport& transport_;
    Leadership& leadership_;
};

}  // namespace muster::kube
