#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/async/signal.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "kube/transport/transport.h"
#include "sim/pod_life.h"

namespace muster::sim {

/// How often the way to the API fails: probabilities of a request, of an event of a watch, of a
/// list.
struct TransportFaults {
    double unavailable = 0;     ///< a request is lost: no effect, kUnavailable
    double timeout_before = 0;  ///< a write is lost, but its sender can't know: kTimeout
    double timeout_after = 0;   ///< a write's answer is lost: effect, and kTimeout
    double conflict = 0;        ///< a PUT or PATCH is answered with 409
    double too_many = 0;        ///< 429, again after a second
    double stale_list = 0;      ///< a list that allows it is answered from an older state
    double gone_list = 0;       ///< a further page of a list: 410
    double gone_watch = 0;      ///< a watch is refused, or ends at an event, with 410
    double broken_watch = 0;    ///< a watch's connection breaks and takes the event with it
    double repeated_event = 0;  ///< an event comes twice in a row
    double slow_request = 0;    ///< waits for one of `delay` before and another after its effect
    double slow_event = 0;      ///< waits for one of `delay`, and those behind it with it
    DurationRange delay{};
    /// Not a fault: what every request takes before its effect. Without it two clients that
    /// undo each other's work would do so without end at one instant of virtual time.
    Duration latency{};

    bool any() const;
};

/// The API is away: no request has an effect, and watches break.
TransportFaults nothing_gets_through(Duration latency);

/// What a FaultyTransport tells and asks.
struct TransportHooks {
    /// Around each call of the real transport, in one go with it: who writes.
    std::function<void(bool begin)> writing = {};
    /// Asked before a write has its effect (then after it): true cuts there.
    std::function<bool(const kube::Request&, bool before)> crash = {};
    /// An injected fault, for people.
    std::function<void(std::string)> note = {};
};

/// A way to the API on which requests fail by chance, within what the API promises: no event is
/// left out of a living watch, events keep their order, and no list is older than it was asked to
/// be.
///
/// cut() is the death of whoever holds it: from then on nothing gets through and nothing is
/// answered, until its waiting callers are cancelled. Thread: one loop.
class FaultyTransport final : public kube::Transport {
  public:
    FaultyTransport(asio::any_io_executor executor, kube::Transport& real, Clock& clock,
                    std::uint64_t seed, TransportFaults faults, TransportHooks hooks = {});
    ~FaultyTransport() override;

    void set_faults(const TransportFaults& faults);
    void cut();
    /// Requests that would change something, but Events and Leases, which are signs of life.
    std::uint64_t writes() const;

    Task<Result<kube::Response>> call(kube::Request request) override;
    Task<Result<std::unique_ptr<kube::WatchStream>>> watch(kube::Request request) override;
    Task<Result<std::unique_ptr<kube::TextStream>>> stream_text(kube::Request request) override;

  private:
    class Watch;
    struct State;

    Task<Result<kube::Response>> read(kube::Request request);
    Task<Result<kube::Response>> write(kube::Request request);
    Task<Result<kube::Response>> pass(kube::Request request);

    kube::Transport& real_;
    std::shared_ptr<State> state_;
};

}  // namespace muster::sim
