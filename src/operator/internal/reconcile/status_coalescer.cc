#include "operator/internal/reconcile/status_coalescer.h"

namespace muster::operators {
namespace {

/// The first status of a job waits for up to this many creations, and is written in parallel to
/// more.
constexpr std::size_t kFewCreations = 32;

}  // namespace

std::optional<Instant> StatusCoalescer::counts(const std::string& key, Plan& next,
                                               bool owned_objects_ensured_before, Instant now) {
    const bool told = !next.events.empty() || (next.status && !next.only_counts);
    const bool counts = next.status && next.only_counts;
    const bool owned_objects =
        next.ensure_owned_objects && next.create_pods.empty() && owned_objects_ensured_before;
    if (told || (!counts && !owned_objects)) {
        counts_due_.erase(key);
        return std::nullopt;
    }
    const auto [due, first] = counts_due_.try_emplace(key, now + counts_wait_);
    if (!first && due->second <= now) {
        counts_due_.erase(due);
        return std::nullopt;
    }
    if (counts) next.status.reset();
    if (owned_objects) next.ensure_owned_objects = false;
    return due->second;
}

bool StatusCoalescer::first_status(const std::string& key, Plan& next) {
    if (!next.status) return false;
    const std::size_t creations = next.create_pods.size() + next.create_services.size();
    if (creations == 0 || creations > kFewCreations) return false;
    if (!status_waited_.insert(key).second) {
        status_waited_.erase(key);
        return false;
    }
    next.status.reset();
    next.events.clear();
    return true;
}

void StatusCoalescer::forget(const std::string& key) {
    counts_due_.erase(key);
    status_waited_.erase(key);
}

}  // namespace muster::operators
