#include "workloads/internal/pods/pod_table.h"

#include <utility>

namespace muster::workloads {

PodTable::PodTable(kube::Client& client, Clock& clock, Rng& rng, TaskGroup& tasks)
    : clock_(clock),
      tasks_(tasks),
      informer_(client, clock, rng, kube::types::kPods, {},
                [](const json::value& pod) -> std::optional<PodPtr> {
                    PodPtr facts = pod_facts(pod);
                    if (facts == nullptr) return std::nullopt;
                    return facts;
                }) {
    informer_.on_change([this](const std::string& key, const PodPtr* before, const PodPtr* after) {
        changed(key, before, after);
    });
}

void PodTable::on_touched(std::string owner_kind, Touched touched) {
    touched_.emplace(std::move(owner_kind), std::move(touched));
}

Task<void> PodTable::ready() {
    if (!std::exchange(started_, true)) informer_.start(tasks_);
    if (!informer_.has_synced()) co_await informer_.wait_synced();
}

void PodTable::take_out(const PodFacts& pod) {
    const auto found = by_owner_.find(owner_key(pod));
    if (found == by_owner_.end()) return;
    found->second.erase(pod.name.name);
    if (found->second.empty()) by_owner_.erase(found);
}

void PodTable::changed(const std::string& key, const PodPtr* before, const PodPtr* after) {
    if (const auto known = made_.find(key); known != made_.end()) {
        take_out(*known->second.pod);
        made_.erase(known);
    }
    if (before != nullptr) {
        take_out(**before);
        if (after == nullptr || (*after)->deleting || (*after)->uid != (*before)->uid)
            removed_.erase((*before)->uid);
    }
    if (after != nullptr) by_owner_[owner_key(**after)][(*after)->name.name] = *after;
    const PodFacts& pod = after != nullptr ? **after : **before;
    if (const auto touched = touched_.find(pod.owner_kind); touched != touched_.end()) {
        const auto siblings = by_owner_.find(owner_key(pod));
        touched->second(pod, siblings == by_owner_.end() ? 0 : siblings->second.size());
    }
}

void PodTable::forget_old() {
    const Instant oldest = clock_.now() - kLongestLag;
    std::erase_if(made_, [&](const auto& entry) {
        const bool old = entry.second.since <= oldest;
        if (old) take_out(*entry.second.pod);
        return old;
    });
    std::erase_if(removed_, [&](const auto& entry) { return entry.second.since <= oldest; });
}

PodTable::Seen PodTable::of(std::string_view owner_kind, const kube::NamespacedName& owner) {
    if (!made_.empty() || !removed_.empty()) forget_old();
    Seen seen;
    const auto found = by_owner_.find(owner_key(owner_kind, owner));
    if (found == by_owner_.end()) return seen;
    seen.pods.reserve(found->second.size());
    for (const auto& [name, pod] : found->second) {
        if (!made_.empty() && made_.contains(pod->name.text())) seen.complete = false;
        if (!pod->deleting && removed_.contains(pod->uid)) {
            PodFacts leaving = *pod;
            leaving.deleting = true;
            seen.pods.push_back(std::make_shared<const PodFacts>(std::move(leaving)));
            seen.complete = false;
            continue;
        }
        seen.pods.push_back(pod);
    }
    return seen;
}

void PodTable::made(const json::value& pod) {
    PodPtr facts = pod_facts(pod);
    if (facts == nullptr) return;
    std::string key = facts->name.text();
    if (informer_.find(key) != nullptr) return;
    by_owner_[owner_key(*facts)][facts->name.name] = facts;
    made_.insert_or_assign(std::move(key), Assumed{std::move(facts), clock_.now()});
}

void PodTable::removed(const PodFacts& pod) {
    const PodPtr* shown = informer_.find(pod.name.text());
    if (shown == nullptr || (*shown)->uid != pod.uid || (*shown)->deleting) return;
    removed_.insert_or_assign(pod.uid, Assumed{*shown, clock_.now()});
}

}  // namespace muster::workloads
