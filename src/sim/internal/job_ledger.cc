#include "sim/internal/job_ledger.h"

namespace muster::sim {

std::int64_t JobLedger::most_restarts(const std::string& type) const {
    std::int64_t sum = 0;
    for (const auto& [id, replica] : replicas) {
        if (id.first != type) continue;
        for (const PodEntry& pod : replica.pods)
            sum += pod.restarts + (pod.calls_for_another() ? 1 : 0);
    }
    return sum;
}

std::int64_t JobLedger::least_restarts(const std::string& type) const {
    std::int64_t sum = 0;
    for (const auto& [id, replica] : replicas) {
        if (id.first != type) continue;
        for (std::size_t i = 0; i < replica.pods.size(); ++i) {
            const bool followed = i + 1 < replica.pods.size();
            sum += replica.pods[i].restarts + (followed && replica.pods[i].failed ? 1 : 0);
        }
    }
    return sum;
}

}  // namespace muster::sim
