#include "muster_run/hosting/master_seat.h"

#include "base/log.h"

namespace muster::run {

MasterSeat::MasterSeat(Clock& clock, Ways ways, TakeoverTurn turn)
    : clock_(clock), ways_(std::move(ways)), turn_(std::move(turn)) {}

Result<bool> MasterSeat::host(std::optional<std::size_t> endpoint, HostedMaster::Start start,
                              HostedMaster::Heard heard) {
    TRY(std::unique_ptr<HostedMaster> made, ways_.make(endpoint));
    if (!made) return false;
    hosted_ = std::move(made);
    hosted_->start(start, std::move(heard), ways_.ended);
    return true;
}

Task<Result<std::unique_ptr<net::ByteStream>>> MasterSeat::reach() {
    if (hosted_ && hosted_->running()) {
        turn_.master_answers();
        co_return hosted_->connect();
    }
    auto connected = co_await ways_.elsewhere();
    if (connected) turn_.master_answers();
    co_return connected;
}

Task<Result<std::unique_ptr<net::ByteStream>>> MasterSeat::take_over(
    const agent::WorkerState& agent, Error unreachable) {
    // A master that has told the end is gone for good, while workers here may still be ending.
    if (agent.knows_the_end()) co_return unreachable;
    const std::optional<std::size_t> endpoint = turn_.no_master_answers(clock_.now());
    if (!endpoint) co_return unreachable;
    log::warning("the job's master is gone; this node takes its place",
                 {{"error", unreachable.message()}});
    HostedMaster::Heard heard{.epoch = agent.epoch_seen(), .record = agent.record()};
    // One that was here and gave way to another: that is gone as well.
    co_await stop();
    hosted_.reset();
    CO_TRY(const bool hosts, host(endpoint, HostedMaster::Start::kTakesOver, std::move(heard)));
    if (hosts) co_return hosted_->connect();
    co_return unreachable;
}

Task<void> MasterSeat::join() {
    if (hosted_) co_await hosted_->join();
}

Task<void> MasterSeat::stop() {
    if (hosted_) co_await hosted_->stop();
}

}  // namespace muster::run
