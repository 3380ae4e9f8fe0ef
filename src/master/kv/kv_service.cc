#include "master/kv/kv_service.h"

#include <utility>

namespace muster::master {

KvService::KvService(const ServiceContext& context, KvLimits limits)
    : executor_(context.executor), job_(context.job), keys_(context.job.epoch(), limits) {}

void KvService::serve(rpc::Server& server) {
    rpc::serve(server, job_protocol::kKv,
               [this](rpc::PeerPtr peer, job::KvRequest told) -> Task<Result<job::KvAnswer>> {
                   return answer(std::move(peer), std::move(told));
               });
}

void KvService::world_changed(const World* world, const std::string& why) {
    keys_.runs(world, why);
    hand_out();
}

void KvService::reported(const std::string& incarnation, const Report& report) {
    if (!report.done || !report.holds) return;
    const auto rank = job_.rank_of(incarnation, report.holds->generation);
    if (!rank) return;
    keys_.done(report.holds->generation, *rank);
    hand_out();
}

Task<Result<job::KvAnswer>> KvService::answer(rpc::PeerPtr peer, job::KvRequest told) {
    CO_TRY(KvRequest request, job_protocol::from_wire(told));
    const KvStore::Waiter waiter = ++last_;
    Line line(executor_);
    lines_.emplace(waiter, &line);
    // The call may be cancelled while it waits.
    struct Leave {
        KvService& service;
        KvStore::Waiter waiter;
        ~Leave() {
            service.lines_.erase(waiter);
            service.keys_.forget(waiter);
        }
    } const leave{*this, waiter};
    std::optional<int> rank;
    if (request.space.generation) rank = job_.rank_of(peer->client, *request.space.generation);
    keys_.ask(waiter, rank, std::move(request));
    hand_out();
    while (!line.answer) co_await line.changed.wait();
    CO_TRY(const KvAnswer given, *std::move(line.answer));
    co_return job_protocol::to_wire(given);
}

void KvService::hand_out() {
    for (auto& [waiter, with] : keys_.take_answered()) {
        const auto line = lines_.find(waiter);
        if (line == lines_.end()) continue;
        line->second->answer = std::move(with);
        line->second->changed.notify_all();
    }
}

}  // namespace muster::master
