#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/time/clock.h"
#include "kube/transport/aimd_window.h"
#include "kube/transport/transport.h"

namespace muster::kube {

/// Sends as much at a time as the server accepts, in turns between flows (Request::flow), as an
/// AimdWindow decides. A request that is refused with 429 had no effect and is sent again when the
/// server says, several times; after that the refusal is the answer. Watches and logs are not
/// counted, as they last.
///
/// Refers to all three; the group runs its timer. Thread: theirs.
class FlowControlTransport final : public Transport {
  public:
    FlowControlTransport(Transport& transport, Clock& clock, TaskGroup& tasks,
                         RequestLimits limits = {});
    ~FlowControlTransport() override;

    Task<Result<Response>> call(Request request) override;
    Task<Result<std::unique_ptr<WatchStream>>> watch(Request request) override {
        return transport_.watch(std::move(request));
    }
    Task<Result<std::unique_ptr<TextStream>>> stream_text(Request request) override {
        return transport_.stream_text(std::move(request));
    }

    const AimdWindow& window() const { return window_; }

  private:
    class Turn;

    void let_go();
    void arm(Instant when);
    Task<void> wake(Instant when);

    Transport& transport_;
    Clock& clock_;
    TaskGroup& tasks_;
    AimdWindow window_;
    AimdWindow::Id last_id_ = 0;
    std::unordered_map<AimdWindow::Id, Turn*> waiting_;
    Instant armed_ = Instant::max();
};

}  // namespace muster::kube
