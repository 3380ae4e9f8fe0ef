#include "muster_run/hosting/master_access.h"

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/log.h"
#include "launch/rendezvous.h"
#include "net/tcp.h"

namespace muster::run {

MasterAccess::MasterAccess(const asio::any_io_executor& executor, Clock& clock, Rng& rng,
                           net::NameLookup& names, const launch::LaunchPlan& plan,
                           const Credentials& credentials, std::filesystem::path job_dir)
    : executor_(executor),
      clock_(clock),
      rng_(rng),
      names_(names),
      plan_(plan),
      credentials_(credentials),
      job_dir_(std::move(job_dir)),
      connector_(executor, clock, names, credentials.client.get(), plan.rendezvous.endpoints),
      turn_({}, plan.times.silence) {}

Task<Result<void>> MasterAccess::open(launch::NodeNames node) {
    using Where = launch::Rendezvous::Where;
    const Where where = plan_.rendezvous.where;
    if (where == Where::kEndpoints) turn_ = co_await find_turn(std::move(node));
    if (where == Where::kHere) {
        CO_TRY(std::ignore, host(std::nullopt, HostedMaster::Start::kAsFirst, {}));
    } else if (can_host() && turn_.candidates().front() == 0) {
        CO_TRY(std::ignore, host(0, HostedMaster::Start::kAsFirst, {}));
    }
    co_return Result<void>();
}

Task<TakeoverTurn> MasterAccess::find_turn(launch::NodeNames node) {
    std::map<std::string, std::vector<std::string>> looked_up;
    for (const launch::Endpoint& endpoint : plan_.rendezvous.endpoints)
        if (auto found = co_await names_.addresses(endpoint.host))
            looked_up[endpoint.host] = *std::move(found);
    co_return TakeoverTurn(launch::hosted_here(plan_.rendezvous, node, looked_up),
                           plan_.times.silence);
}

/// Its own endpoint, and the ways to the others.
Result<MasterPlace> MasterAccess::place_at(std::size_t endpoint) {
    const std::vector<launch::Endpoint>& all = plan_.rendezvous.endpoints;
    MasterPlace place{.tls = credentials_.server.get(), .ask_others_every = plan_.times.silence};
    TRY(place.listener, net::listen_tcp_everywhere(executor_, all[endpoint].port));
    for (std::size_t other = 0; other < all.size(); ++other) {
        if (other == endpoint) continue;
        auto way = std::make_shared<MasterConnector>(
            executor_, clock_, names_, credentials_.client.get(), std::vector{all[other]});
        place.others.push_back([way] { return way->connect(); });
    }
    return place;
}

/// At that endpoint, if the job has any. False: another agent of this machine is there.
Result<bool> MasterAccess::host(std::optional<std::size_t> endpoint, HostedMaster::Start start,
                                HostedMaster::Heard heard) {
    MasterPlace place;
    if (endpoint) {
        auto here = place_at(*endpoint);
        if (!here && here.error().code() == Code::kAlreadyExists) return false;
        if (!here)
            return std::move(here).error().prefix("hosting the job's master at " +
                                                  plan_.rendezvous.endpoints[*endpoint].text());
        place = *std::move(here);
    }
    hosted_ =
        std::make_unique<HostedMaster>(executor_, clock_, rng_, record_in(job_dir_),
                                       master_options(plan_, credentials_.token), std::move(place));
    hosted_->start(start, std::move(heard), [](const Error& error) {
        log::warning("this node hosts the job's master no more", {{"why", error.message()}});
    });
    return true;
}

Task<Result<std::unique_ptr<net::ByteStream>>> MasterAccess::connect(
    const agent::WorkerState& agent) {
    if (hosted_ && hosted_->running()) {
        turn_.master_answers();
        co_return hosted_->connect();
    }
    auto connected = co_await connector_.connect();
    if (connected) {
        turn_.master_answers();
        co_return connected;
    }
    // A master that has told the end is gone for good, while workers here may still be ending.
    if (agent.knows_the_end()) co_return connected;
    const std::optional<std::size_t> endpoint = turn_.no_master_answers(clock_.now());
    if (!endpoint) co_return connected;
    log::warning("the job's master is gone; this node takes its place",
                 {{"error", connected.error().message()}});
    // One that was here and gave way to another: that is gone as well.
    co_await stop();
    hosted_.reset();
    CO_TRY(const bool hosts, host(endpoint, HostedMaster::Start::kTakesOver,
                                  {.epoch = agent.epoch_seen(), .record = agent.record()}));
    if (hosts) co_return hosted_->connect();
    co_return connected;
}

Task<void> MasterAccess::join() {
    if (hosted_) co_await hosted_->join();
}

Task<void> MasterAccess::stop() {
    if (hosted_) co_await hosted_->stop();
}

void MasterAccess::forget_record() {
    if (hosted_) hosted_->forget_record();
}

}  // namespace muster::run
