#include "sim/internal/job_ledger.h"

#include <algorithm>

#include "jobs/kind.h"
#include "kube/objects/pod_contract.h"
#include "sim/internal/json_view.h"

namespace muster::sim {

namespace {

std::int64_t number_of(std::string_view text) {
    std::int64_t number = 0;
    for (const char c : text)
        if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
    return number;
}

bool by_operator(std::string_view who) { return who.starts_with("operator"); }

}  // namespace

void PodEntry::settle(Instant seen_before) {
    if (gone || evidence_at > seen_before) return;
    sure_restarts = restarts;
    sure_bad = bad;
}

PodEntry& JobLedger::note_pod(const ReplicaId& replica, const store::StoreChange& change,
                              const Circumstances& now) {
    const json::value& pod = change.object ? *change.object : *change.previous;
    const std::string_view uid = text_at(pod, {"metadata", "uid"});
    std::vector<PodEntry>& pods = replicas[replica].pods;
    auto entry = std::ranges::find(pods, uid, &PodEntry::uid);
    if (entry == pods.end()) {
        PodEntry made{.uid = std::string(uid)};
        made.generation =
            number_of(text_at(pod, {"metadata", "annotations", kube::kGenerationAnnotation}));
        made.before =
            number_of(text_at(pod, {"metadata", "annotations", jobs::annotations::kRestarts}));
        generation = std::max(generation, made.generation);
        if (!pods.empty() && pods.back().gone && pods.back().gone_in != now.terms)
            for (PodEntry& earlier : pods) earlier.excused = true;
        entry = pods.insert(pods.end(), std::move(made));
    }
    entry->settle(now.seen_before);

    const bool is_gone = change.object == nullptr;
    const bool going = is_gone || deleting(pod);
    const bool was_going = entry->gone || (change.previous && deleting(*change.previous));
    const std::int64_t told = restarts_of(pod);
    if (told < entry->restarts && now.forgetful) entry->excused = true;
    if (told > entry->restarts) {
        entry->restarts = told;
        entry->evidence_at = now.at;
    }
    const bool ended = pod_ended(pod);
    const std::string_view phase = text_at(pod, {"status", "phase"});
    entry->has_run |= phase == "Running" || entry->restarts > 0;
    if (ended && !entry->ended && phase == "Failed" && !entry->stopped && !entry->bad) {
        entry->bad = true;
        // It never ran, and somebody else wanted it to go before: how it ends then says little.
        if (was_going && !entry->has_run) entry->excused = true;
        entry->evidence_at = now.at;
    }
    entry->ended |= ended;
    entry->was_ready |= phase == "Succeeded" || condition_of(pod, "Ready") == "True";
    if (going && !was_going) {
        if (by_operator(now.who)) {
            // It goes because its end was seen, or else for a reason of the operator's own.
            if (entry->bad)
                entry->sure_bad = true;
            else
                entry->stopped = true;
        }
    }
    // That it ran may be told after somebody wanted it to go.
    if (going && !entry->stopped && !entry->ended && entry->has_run && !entry->bad) {
        entry->bad = true;
        entry->evidence_at = now.at;
    }
    entry->live = !going && !ended;
    entry->settle(now.seen_before);
    entry->gone = is_gone;
    if (is_gone) entry->gone_in = now.terms;
    return *entry;
}

void JobLedger::excuse_all() {
    for (auto& [id, replica] : replicas)
        for (PodEntry& pod : replica.pods) pod.excused = true;
}

void JobLedger::settle_all(Instant seen_before) {
    for (auto& [id, replica] : replicas)
        for (PodEntry& pod : replica.pods) pod.settle(seen_before);
}

std::int64_t JobLedger::most_restarts(const std::string& type, bool forgetful) const {
    std::int64_t sum = 0;
    for (const auto& [id, replica] : replicas) {
        if (id.first != type) continue;
        for (const PodEntry& pod : replica.pods) {
            const bool may_count = forgetful && pod.stopped;
            sum += pod.restarts + (pod.bad || may_count ? 1 : 0);
            if (may_count && pod.excused) sum += pod.before + pod.restarts;
        }
    }
    return sum;
}

std::int64_t JobLedger::least_restarts(const std::string& type, Instant when) const {
    std::int64_t sum = 0;
    for (const auto& [id, replica] : replicas) {
        if (id.first != type) continue;
        for (std::size_t i = 0; i < replica.pods.size(); ++i) {
            const PodEntry& pod = replica.pods[i];
            if (pod.excused || pod.evidence_at > when) continue;
            const bool followed = i + 1 < replica.pods.size();
            sum += pod.sure_restarts + (followed && pod.sure_bad ? 1 : 0);
        }
    }
    return sum;
}

std::int64_t JobLedger::least_restarts(Instant when) const {
    std::set<std::string> types;
    for (const auto& [id, replica] : replicas) types.insert(id.first);
    std::int64_t sum = 0;
    for (const std::string& type : types) sum += least_restarts(type, when);
    return sum;
}

std::int64_t JobLedger::most_generations(bool forgetful) const {
    std::set<std::int64_t> ended_badly;
    for (const auto& [id, replica] : replicas)
        for (const PodEntry& pod : replica.pods)
            if (pod.bad || (forgetful && pod.stopped)) ended_badly.insert(pod.generation);
    return static_cast<std::int64_t>(ended_badly.size());
}

}  // namespace muster::sim
