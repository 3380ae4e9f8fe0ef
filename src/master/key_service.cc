#include "master/key_service.h"

#include <utility>

namespace muster::master {

KeyService::KeyService(const asio::any_io_executor& executor, std::uint64_t epoch, RankOf rank_of,
                       KeyLimits limits)
    : executor_(executor), rank_of_(std::move(rank_of)), keys_(epoch, limits) {}

void KeyService::serve(rpc::Server& server) {
    rpc::serve(server, kKeys,
               [this](rpc::PeerPtr peer, job::KeyRequest told) -> Task<Result<job::KeyAnswer>> {
                   return answer(std::move(peer), std::move(told));
               });
}

void KeyService::runs(const World* world, const std::string& why) {
    keys_.runs(world, why);
    hand_out();
}

void KeyService::reported(const std::string& incarnation, const Report& report) {
    if (!report.done || !report.holds) return;
    const auto rank = rank_of_(incarnation, report.holds->generation);
    if (!rank) return;
    keys_.done(report.holds->generation, *rank);
    hand_out();
}

Task<Result<job::KeyAnswer>> KeyService::answer(rpc::PeerPtr peer, job::KeyRequest told) {
    CO_TRY(KeyRequest request, from_wire(told));
    const Keys::Waiter waiter = ++last_;
    Line line(executor_);
    lines_.emplace(waiter, &line);
    // The call may be cancelled while it waits.
    struct Leave {
        KeyService& service;
        Keys::Waiter waiter;
        ~Leave() {
            service.lines_.erase(waiter);
            service.keys_.forget(waiter);
        }
    } const leave{*this, waiter};
    std::optional<int> rank;
    if (request.space.generation) rank = rank_of_(peer->client, *request.space.generation);
    keys_.ask(waiter, rank, std::move(request));
    hand_out();
    while (!line.answer) co_await line.changed.wait();
    CO_TRY(const KeyAnswer given, *std::move(line.answer));
    co_return to_wire(given);
}

void KeyService::hand_out() {
    for (auto& [waiter, with] : keys_.take_answered()) {
        const auto line = lines_.find(waiter);
        if (line == lines_.end()) continue;
        line->second->answer = std::move(with);
        line->second->changed.notify_all();
    }
}

}  // namespace muster::master
