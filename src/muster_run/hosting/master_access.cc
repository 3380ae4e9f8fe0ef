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
      seat_(clock,
            {.elsewhere = [this] { return connector_.connect(); },
             .make = [this](std::optional<std::size_t> endpoint) { return make(endpoint); },
             .ended =
                 [](const Error& error) {
                     log::warning("this node hosts the job's master no more",
                                  {{"why", error.message()}});
                 }},
            {{}, plan.times.silence}) {}

Task<Result<void>> MasterAccess::open(launch::NodeNames node,
                                      std::vector<std::string> guessed_addresses) {
    using Where = launch::Rendezvous::Where;
    node_ = std::move(node);
    guessed_addresses_ = std::move(guessed_addresses);
    const Where where = plan_.rendezvous.where;
    if (where == Where::kEndpoints) co_await find_candidates();
    if (where == Where::kHere) {
        CO_TRY(std::ignore, seat_.host(std::nullopt, HostedMaster::Start::kAsFirst, {}));
    } else if (can_host() && seat_.turn().candidates().front() == 0) {
        CO_TRY(std::ignore, seat_.host(0, HostedMaster::Start::kAsFirst, {}));
    }
    co_return Result<void>();
}

Task<void> MasterAccess::find_candidates() {
    std::map<std::string, std::vector<std::string>> looked_up;
    names_are_known_ = true;
    for (const launch::Endpoint& endpoint : plan_.rendezvous.endpoints) {
        if (auto found = co_await names_.addresses(endpoint.host))
            looked_up[endpoint.host] = *std::move(found);
        else
            names_are_known_ = false;
    }
    seat_.has_candidates(launch::hosted_here(plan_.rendezvous, node_, looked_up));
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

/// At that endpoint, if the job has any. Null: another agent of this machine is there.
Result<std::unique_ptr<HostedMaster>> MasterAccess::make(std::optional<std::size_t> endpoint) {
    MasterPlace place;
    if (endpoint) {
        auto here = place_at(*endpoint);
        if (!here && here.error().code() == Code::kAlreadyExists)
            return std::unique_ptr<HostedMaster>();
        if (!here)
            return std::move(here).error().prefix("hosting the job's master at " +
                                                  plan_.rendezvous.endpoints[*endpoint].text());
        place = *std::move(here);
    }
    master::MasterOptions options = master_options(plan_, credentials_.token);
    options.job.guessed_addresses = guessed_addresses_;
    return std::make_unique<HostedMaster>(executor_, clock_, rng_, record_in(job_dir_),
                                          std::move(options), std::move(place));
}

/// The first endpoint's name may have got its address, and it may be this node's. True: the job's
/// first master is here now.
Task<Result<bool>> MasterAccess::host_late(const agent::WorkerState& agent) {
    if (names_are_known_ || seat_.hosted() != nullptr) co_return false;
    co_await find_candidates();
    // Where there was a master, it is taken over like any other.
    if (!can_host() || seat_.turn().candidates().front() != 0 || agent.epoch_seen() != 0)
        co_return false;
    log::info("the first endpoint is on this node, as is known by now",
              {{"endpoint", plan_.rendezvous.endpoints.front().text()}});
    co_return seat_.host(0, HostedMaster::Start::kAsFirst, {});
}

Task<Result<std::unique_ptr<net::ByteStream>>> MasterAccess::connect(
    const agent::WorkerState& agent) {
    auto reached = co_await seat_.reach();
    if (reached) co_return reached;
    CO_TRY(const bool late, co_await host_late(agent));
    if (late) co_return seat_.hosted()->connect();
    co_return co_await seat_.take_over(agent, std::move(reached).error());
}

Task<void> MasterAccess::join() { co_await seat_.join(); }

Task<void> MasterAccess::stop() { co_await seat_.stop(); }

void MasterAccess::forget_record() {
    if (seat_.hosted() != nullptr) seat_.hosted()->forget_record();
}

}  // namespace muster::run
