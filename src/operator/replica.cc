#include "operator/replica.h"

#include "base/async/first_of.h"
#include "base/async/signal.h"
#include "base/log.h"
#include "kube/client/leader_transport.h"
#include "kube/transport/flow_control_transport.h"

namespace muster::operators {

namespace {

constexpr const char* kUserAgent = "muster-operator";

}  // namespace

/// The time from when this process leads until it does not.
struct Replica::Term {
    Term(Replica& replica, kube::Transport& transport)
        : tasks(replica.executor_),
          steered(transport, replica.clock_, tasks, replica.options_.limits),
          work(replica.executor_, steered, replica.clock_, replica.rng_, replica.options_.work) {}

    TaskGroup tasks;
    kube::FlowControlTransport steered;
    Operator work;
};

Replica::Replica(asio::any_io_executor executor, kube::Transport& server, Clock& clock, Rng& rng,
                 ReplicaOptions options)
    : executor_(std::move(executor)),
      clock_(clock),
      rng_(rng),
      options_(std::move(options)),
      tasks_(executor_),
      server_(server, clock,
              [this](const kube::RequestSeen& seen) {
                  if (options_.on_request) options_.on_request(seen);
              }),
      client_(server_, kUserAgent) {
    if (options_.election)
        leadership_ =
            std::make_unique<kube::Leadership>(client_, clock, tasks_, *options_.election);
}

Replica::~Replica() = default;

Task<void> Replica::run() {
    if (!leadership_) {
        term_ = std::make_unique<Term>(*this, server_);
        co_await work(*term_);
        co_return;
    }
    leadership_->start();
    for (;;) co_await lead();
}

Task<void> Replica::lead() {
    phase_ = Phase::kWaits;
    log::info("waiting for leadership", {{"identity", options_.election->identity}});
    co_await leadership_->won();
    log::info("leadership acquired", {{"identity", options_.election->identity}});
    kube::LeaderTransport leaders_alone(server_, *leadership_);
    term_ = std::make_unique<Term>(*this, leaders_alone);
    std::exception_ptr thrown;
    try {
        co_await first_of(work(*term_), leadership_->lost());
    } catch (...) {
        thrown = std::current_exception();
    }
    phase_ = Phase::kStarts;
    // Requests in flight refer to this term and its transport, so nothing may cut its end short.
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    co_await end_term();
    co_await asio::this_coro::reset_cancellation_state();
    if (thrown) std::rethrow_exception(thrown);
    log::warning("leadership lost", {{"leader", leadership_->holder()}});
}

Task<void> Replica::work(Term& term) {
    phase_ = Phase::kFills;
    const Instant began = clock_.now();
    const Result<void> started = co_await term.work.start();
    if (!started) {
        log::error("the operator could not start", {{"error", started.error().message()}});
        co_return;
    }
    phase_ = Phase::kWorks;
    if (options_.on_filled) options_.on_filled();
    log::info(
        "operator ready",
        {{"caches_filled_ms",
          std::chrono::duration_cast<std::chrono::milliseconds>(clock_.now() - began).count()}});
    Signal never(executor_);
    for (;;) co_await never.wait();
}

Task<void> Replica::end_term() {
    co_await term_->work.stop();
    co_await term_->tasks.stop();
    term_.reset();
}

Task<Result<void>> Replica::stop() {
    phase_ = Phase::kStopped;
    if (term_) co_await end_term();
    Result<void> released;
    if (leadership_) released = co_await leadership_->resign();
    co_await tasks_.stop();
    co_return released;
}

std::string Replica::not_ready() const {
    switch (phase_) {
        case Phase::kStarts:
            return "it is starting";
        case Phase::kFills:
            return "its caches are being filled";
        case Phase::kStopped:
            return "it is stopping";
        case Phase::kWaits:
        case Phase::kWorks:
            return {};
    }
    return {};
}

std::vector<Unserved> Replica::unserved() const {
    if (!term_) return {};
    return term_->work.unserved();
}

std::size_t Replica::queue_depth() const { return term_ ? term_->work.queue_depth() : 0; }

RequestsNow Replica::requests() const {
    if (!term_) return {};
    const kube::AimdWindow& window = term_->steered.window();
    return {window.size(), window.in_flight(), window.waiting()};
}

}  // namespace muster::operators
