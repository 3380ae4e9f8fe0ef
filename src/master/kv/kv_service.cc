#include "master/kv/kv_service.h"

#include <optional>
#include <utility>

namespace muster::master {

KvService::KvService(const ServiceContext& context, KvLimits limits)
    : job_(context.job), calls_(context.executor, context.job.epoch(), limits) {}

void KvService::serve(rpc::Server& server) {
    rpc::serve(server, job_protocol::kKv,
               [this](rpc::PeerPtr peer, job::KvRequest told) -> Task<Result<job::KvAnswer>> {
                   return answer(std::move(peer), std::move(told));
               });
}

void KvService::world_changed(const World* world, const std::string& why) {
    calls_.keys().runs(world, why);
    calls_.hand_out();
}

void KvService::reported(const std::string& incarnation, const Report& report) {
    if (!report.done || !report.holds) return;
    const auto rank = job_.rank_of(incarnation, report.holds->generation);
    if (!rank) return;
    calls_.keys().done(report.holds->generation, *rank);
    calls_.hand_out();
}

Task<Result<job::KvAnswer>> KvService::answer(rpc::PeerPtr peer, job::KvRequest told) {
    CO_TRY(KvRequest request, job_protocol::from_wire(told));
    std::optional<int> rank;
    if (request.space.generation) rank = job_.rank_of(peer->client, *request.space.generation);
    CO_TRY(const KvAnswer given, co_await calls_.ask(rank, std::move(request)));
    co_return job_protocol::to_wire(given);
}

}  // namespace muster::master
