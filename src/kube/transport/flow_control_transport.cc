#include "kube/transport/flow_control_transport.h"

#include "base/time/restarting_task.h"

namespace muster::kube {
namespace {

constexpr int kTries = 10;
/// Used if a 429 names no time; the same as in client-go.
constexpr Duration kHold = std::chrono::seconds(1);

}  // namespace

/// One request's place in the window: it waits, is in flight, or has ended, however its task ends.
class FlowControlTransport::Turn {
  public:
    Turn(FlowControlTransport& owner, const std::string& flow)
        : owner_(owner), flow_(flow), id_(++owner.last_id_), go_(owner.tasks_.executor()) {
        owner_.waiting_.emplace(id_, this);
        owner_.window_.add(flow_, id_);
    }
    ~Turn() {
        owner_.waiting_.erase(id_);
        if (!gone_) {
            owner_.window_.withdraw(flow_, id_);
        } else if (!ended_) {
            end(RequestEnd::kGivenUp, {});
        }
        owner_.let_go();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    Task<void> wait() {
        owner_.let_go();
        while (!gone_) co_await go_.wait();
        sent_ = owner_.clock_.now();
    }
    void go() {
        gone_ = true;
        go_.notify_all();
    }
    void end(RequestEnd how, Instant hold_until) {
        ended_ = true;
        const Instant now = owner_.clock_.now();
        owner_.window_.ended(flow_, how, now - sent_.value_or(now), now, hold_until);
    }

  private:
    FlowControlTransport& owner_;
    const std::string flow_;
    AimdWindow::Id id_;
    Signal go_;
    bool gone_ = false;
    bool ended_ = false;
    std::optional<Instant> sent_;
};

FlowControlTransport::FlowControlTransport(Transport& transport, Clock& clock, TaskGroup& tasks,
                                           RequestLimits limits)
    : transport_(transport), clock_(clock), tasks_(tasks), window_(limits) {}

FlowControlTransport::~FlowControlTransport() = default;

Task<Result<Response>> FlowControlTransport::call(Request request) {
    for (int tries = 1;; ++tries) {
        Turn turn(*this, request.flow);
        co_await turn.wait();
        Result<Response> answer = tries < kTries ? co_await transport_.call(request)
                                                 : co_await transport_.call(std::move(request));
        if (answer && answer->status == 429) {
            turn.end(RequestEnd::kTooMany, clock_.now() + answer->retry_after.value_or(kHold));
            if (tries < kTries) continue;
            co_return answer;
        }
        const bool lost = !answer && answer.error().code() == Code::kTimeout;
        turn.end(lost ? RequestEnd::kLost : RequestEnd::kAnswered, {});
        co_return answer;
    }
}

void FlowControlTransport::let_go() {
    for (;;) {
        const std::optional<AimdWindow::Id> id = window_.next(clock_.now());
        if (!id) break;
        waiting_.extract(*id).mapped()->go();
    }
    if (window_.wake_at() != Instant::max()) arm(window_.wake_at());
}

void FlowControlTransport::arm(Instant when) {
    if (armed_ <= when) return;
    armed_ = when;
    spawn_restarting(tasks_, clock_, "requests that wait for their time",
                     [this, when] { return wake(when); });
}

Task<void> FlowControlTransport::wake(Instant when) {
    co_await clock_.sleep_until(when);
    if (armed_ == when) armed_ = Instant::max();
    let_go();
}

}  // namespace muster::kube
