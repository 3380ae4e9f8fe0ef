#include "sim/internal/job_ledger.h"

#include <algorithm>

#include "base/lower_case.h"
#include "jobs/kind.h"
#include "kube/objects/pod_contract.h"
#include "sim/internal/job_causes.h"
#include "sim/internal/json_view.h"

namespace muster::sim {

namespace {

std::int64_t number_of(std::string_view text) {
    std::int64_t number = 0;
    for (const char c : text)
        if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
    return number;
}

/// What a change says of a pod, beside what was known before.
struct PodChange {
    std::string_view phase;
    bool ended;
    bool gone;
    bool going;      ///< being deleted, or gone
    bool was_going;  ///< before the change
};

PodChange change_of(const json::value& pod, const store::StoreChange& change,
                    const PodEntry& before) {
    const bool gone = change.object == nullptr;
    return {.phase = text_at(pod, {"status", "phase"}),
            .ended = pod_ended(pod),
            .gone = gone,
            .going = gone || deleting(pod),
            .was_going = before.gone || (change.previous && deleting(*change.previous))};
}

void note_restarts(PodEntry& entry, std::int64_t told, const Circumstances& now) {
    if (told < entry.restarts && now.forgetful) entry.excused = true;
    if (told <= entry.restarts) return;
    entry.restarts = told;
    entry.evidence_at = now.at;
}

void note_bad(PodEntry& entry, Instant at) {
    entry.bad = true;
    entry.evidence_at = at;
}

void note_end(PodEntry& entry, const PodChange& change, Instant at) {
    if (change.ended && !entry.ended && change.phase == "Failed" && !entry.stopped && !entry.bad) {
        note_bad(entry, at);
        // It never ran, and another client wanted it to go before: how it ends says little.
        if (change.was_going && !entry.has_run) entry.excused = true;
    }
    entry.ended |= change.ended;
}

/// The ids of a text such as "0-2,5".
std::vector<std::int64_t> ids_of(std::string_view text) {
    std::vector<std::int64_t> ids;
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), part.size() + 1));
        const std::int64_t first = number_of(part.substr(0, part.find('-')));
        const std::int64_t last = number_of(part.substr(part.find('-') + 1));
        for (std::int64_t id = first; id <= last; ++id) ids.push_back(id);
    }
    return ids;
}

void note_removal(PodEntry& entry, const PodChange& change, const Circumstances& now) {
    if (!change.going) return;
    if (!change.was_going && by_operator(now.who)) {
        // It goes because its end was seen, or else for a reason of the operator's own.
        if (entry.bad)
            entry.sure_bad = true;
        else
            entry.stopped = true;
    }
    // That it ran may be told after it was asked to go.
    if (!entry.stopped && !entry.ended && entry.has_run && !entry.bad) note_bad(entry, now.at);
}

}  // namespace

void PodEntry::settle(Instant seen_before) {
    if (gone || evidence_at > seen_before) return;
    sure_restarts = restarts;
    sure_bad = bad;
}

/// A pod tells its rank where that is not its id.
JobLedger::ReplicaId JobLedger::replica_of(const json::value& pod) {
    std::string rank(text_at(pod, {"metadata", "annotations", jobs::annotations::kRank}));
    if (rank.empty()) rank = label_of(pod, jobs::labels::kReplicaIndex);
    return {std::string(label_of(pod, jobs::labels::kReplicaType)), std::move(rank)};
}

/// That of the pod, which is made when the pod is new.
PodEntry& JobLedger::entry_of(const ReplicaId& replica, const json::value& pod,
                              const Circumstances& now) {
    const std::string_view uid = text_at(pod, {"metadata", "uid"});
    std::vector<PodEntry>& pods = replicas[replica].pods;
    const auto known = std::ranges::find(pods, uid, &PodEntry::uid);
    if (known != pods.end()) return *known;
    PodEntry made{.uid = std::string(uid)};
    made.id = label_of(pod, jobs::labels::kReplicaIndex);
    made.made_at = now.at;
    made.generation =
        number_of(text_at(pod, {"metadata", "annotations", kube::kGenerationAnnotation}));
    made.before =
        number_of(text_at(pod, {"metadata", "annotations", jobs::annotations::kRestarts}));
    generation = std::max(generation, made.generation);
    if (!pods.empty() && pods.back().gone && pods.back().gone_in != now.terms)
        for (PodEntry& earlier : pods) earlier.excused = true;
    return pods.emplace_back(std::move(made));
}

PodEntry& JobLedger::note_pod(const ReplicaId& replica, const store::StoreChange& change,
                              const Circumstances& now) {
    const json::value& pod = change.object ? *change.object : *change.previous;
    PodEntry& entry = entry_of(replica, pod, now);
    entry.settle(now.seen_before);

    const PodChange what = change_of(pod, change, entry);
    note_restarts(entry, restarts_of(pod), now);
    if (const std::int64_t code = failed_with(pod)) entry.exit_code = code;
    entry.has_run |= what.phase == "Running" || entry.restarts > 0;
    note_end(entry, what, now.at);
    entry.ready = condition_of(pod, "Ready") == "True";
    entry.was_ready |= what.phase == "Succeeded" || entry.ready;
    note_removal(entry, what, now);
    entry.live = !what.going && !what.ended;
    entry.settle(now.seen_before);
    entry.gone = what.gone;
    if (what.gone) entry.gone_in = now.terms;
    return entry;
}

void JobLedger::note_takeovers() {
    const json::value* const types = find_at(*object, {"status", "members"});
    if (types == nullptr || !types->is_object()) return;
    for (const auto& [type, members] : types->get_object()) {
        const json::value* const ranks = find_at(members, {"ranks"});
        if (ranks == nullptr || !ranks->is_object()) continue;
        std::map<std::int64_t, std::int64_t> holders;  // by rank
        for (const std::int64_t id : ids_of(text_at(members, {"ids"}))) {
            const std::int64_t rank = number_at(*ranks, {std::to_string(id)}, id);
            const auto [earlier, alone] = holders.try_emplace(rank, id);
            if (!alone)
                takeovers.insert(
                    {lower_case(type), std::to_string(earlier->second), std::to_string(id)});
        }
    }
}

bool JobLedger::is_takeover(const std::string& type, const PodEntry& one,
                            const PodEntry& other) const {
    return takeovers.contains({type, one.id, other.id}) ||
           takeovers.contains({type, other.id, one.id});
}

bool JobLedger::at_rest() const {
    return std::ranges::all_of(replicas, [](const auto& replica) {
        if (replica.second.pods.empty()) return true;
        const PodEntry& newest = replica.second.pods.back();
        if (newest.bad) return false;
        return newest.live ? newest.ready : newest.ended || (newest.gone && newest.stopped);
    });
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
            // One that has failed when another runs in its place was to go anyway.
            const bool followed =
                i + 1 < replica.pods.size() && !is_takeover(id.first, pod, replica.pods[i + 1]);
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
