#include "sim/internal/training_fault_injector.h"

#include <fmt/format.h>

#include <array>
#include <csignal>

#include "sim/internal/generated_job.h"

namespace muster::sim {

ElasticPod* TrainingFaultInjector::any() {
    const std::vector<ElasticPod*> running = pods_.running();
    return running.empty() ? nullptr : running[rng_.below(running.size())];
}

std::optional<TrainingFaultInjector::Link> TrainingFaultInjector::any_link() {
    const std::vector<ElasticPod*> agents = pods_.running();
    const std::vector<MasterPod*> masters = pods_.masters();
    if (agents.empty() && masters.empty()) return std::nullopt;
    const std::size_t drawn = rng_.below(agents.size() + masters.size());
    if (drawn < agents.size()) return Link{agents[drawn]->name, agents[drawn]->node.link};
    MasterPod& master = *masters[drawn - agents.size()];
    return Link{master.name, master.link};
}

elastic::SimulatedWorkers::Death TrainingFaultInjector::death() {
    if (rng_.chance(faults_.program_error)) {
        static constexpr std::array kErrors = {"ValueError: one", "ValueError: two",
                                               "ImportError: three"};
        return {.exit_code = 1, .error = kErrors.at(rng_.below(kErrors.size()))};
    }
    if (rng_.chance(0.1)) return {.signal = SIGKILL, .out_of_memory = true};
    if (rng_.chance(0.5)) return {.signal = SIGKILL};
    return {.exit_code = 1};
}

Task<void> TrainingFaultInjector::kill_worker() {
    ElasticPod* const pod = any();
    if (pod == nullptr) co_return;
    const auto all = static_cast<std::uint64_t>(pod->node.options.local_size);
    if (pod->node.workers.end(static_cast<int>(rng_.below(all)), death()))
        note_(fmt::format("a worker of {} dies", pod->name));
}

Task<void> TrainingFaultInjector::cut_link() {
    const auto pod = any_link();
    if (!pod) co_return;
    note_(fmt::format("the connections of {} are cut", pod->name));
    pod->link.cut();
}

Task<void> TrainingFaultInjector::cut_late() {
    const auto pod = any_link();
    if (!pod) co_return;
    note_(fmt::format("the connections of {} are cut, and what it has said comes late", pod->name));
    pod->link.cut_late(draw(faults_.late_cut_by, rng_));
}

Task<void> TrainingFaultInjector::cut_half() {
    const auto pod = any_link();
    if (!pod) co_return;
    const bool by_node = rng_.chance(0.5);
    note_(fmt::format("the connections of {} are cut, and {} not know", pod->name,
                      by_node ? "others do" : "it does"));
    pod->link.cut(by_node ? elastic::SimulatedLink::Seen::kByNode
                          : elastic::SimulatedLink::Seen::kByMaster);
}

Task<void> TrainingFaultInjector::partition() {
    const auto pod = any_link();
    if (!pod) co_return;
    const auto [up, down] = elastic::draw_blocked_ways(rng_);
    note_(fmt::format("nothing gets {} {}",
                      up && down ? "to or from"
                      : up       ? "out of"
                                 : "into",
                      pod->name));
    pod->link.set_partition(up, down);
    co_await clock_.sleep_for(draw(faults_.partition.lasts, rng_));
    pod->link.set_partition(false, false);
}

Task<void> TrainingFaultInjector::slow_link() {
    const auto pod = any_link();
    if (!pod) co_return;
    note_(fmt::format("the link of {} is slow", pod->name));
    pod->link.set_delay(draw(faults_.slow_link_by, rng_), draw(faults_.slow_link_by, rng_));
    co_await clock_.sleep_for(draw(faults_.slow_link.lasts, rng_));
    pod->link.set_delay({}, {});
}

Task<void> TrainingFaultInjector::lose_records() {
    using Fault = master::MemoryRecords::Fault;
    if (pods_.running().empty()) co_return;
    note_("masters' records fail");
    for (const auto& [uid, job] : pods_.jobs())
        job->set_record_faults([this] {
            return rng_.chance(0.5)   ? Fault::kNone
                   : rng_.chance(0.5) ? Fault::kFails
                                      : Fault::kLost;
        });
    co_await clock_.sleep_for(draw(faults_.lost_records.lasts, rng_));
    for (const auto& [uid, job] : pods_.jobs()) job->set_record_faults({});
}

void TrainingFaultInjector::heal_all() {
    for (const auto& [uid, job] : pods_.jobs()) {
        job->set_record_faults({});
        for (const auto& pod : job->pods()) pod->node.link.heal();
        for (const auto& master : job->masters()) master->link.heal();
    }
}

}  // namespace muster::sim
