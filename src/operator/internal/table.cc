#include "operator/internal/table.h"

#include <algorithm>

#include "base/log.h"

namespace muster::operators {
namespace {

template <class Key, class Set>
Instant expire_one(std::map<Key, Instant>& deadlines, Set& marks, Instant now) {
    Instant next = Instant::max();
    for (auto it = deadlines.begin(); it != deadlines.end();) {
        if (it->second <= now) {
            marks.erase(it->first);
            it = deadlines.erase(it);
        } else {
            next = std::min(next, it->second);
            ++it;
        }
    }
    return next;
}

}  // namespace

void Table::apply(const PodPtr* before, const PodPtr* after) {
    if (before != nullptr) {
        const PodRecord& old = **before;
        Entry& entry = by_owner_[old.owner.uid];
        Dependents& dependents = entry.dependents;
        if (auto it = dependents.slots.find(old.replica); it != dependents.slots.end()) {
            std::erase_if(it->second.pods, [&](const PodPtr& pod) { return pod->uid == old.uid; });
            if (it->second.empty()) dependents.slots.erase(it);
        }
        if (after == nullptr || (*after)->uid != old.uid || (*after)->deleting) {
            dependents.being_deleted.erase(old.uid);
            entry.delete_deadlines.erase(old.uid);
        }
        drop_if_empty(old.owner.uid);
    }
    if (after != nullptr) {
        const PodRecord& pod = **after;
        Entry& entry = by_owner_[pod.owner.uid];
        std::vector<PodPtr>& pods = slot(entry, pod.replica).pods;
        pods.push_back(*after);
        if (pods.size() > 1)
            log::warning(
                "more than one pod for one replica",
                {{"pod", pod.name}, {"other", pods.front()->name}, {"namespace", pod.namespace_}});
        entry.dependents.pods_being_created.erase(pod.replica);
        entry.pod_deadlines.erase(pod.replica);
    }
}

void Table::apply(const ServicePtr* before, const ServicePtr* after) {
    if (before != nullptr) {
        const ServiceRecord& old = **before;
        Entry& entry = by_owner_[old.owner.uid];
        Dependents& dependents = entry.dependents;
        if (auto it = dependents.slots.find(old.replica); it != dependents.slots.end() &&
                                                          it->second.service &&
                                                          it->second.service->uid == old.uid) {
            it->second.service.reset();
            if (it->second.empty()) dependents.slots.erase(it);
        }
        if (after == nullptr || (*after)->uid != old.uid || (*after)->deleting) {
            dependents.being_deleted.erase(old.uid);
            entry.delete_deadlines.erase(old.uid);
        }
        drop_if_empty(old.owner.uid);
    }
    if (after != nullptr) {
        const ServiceRecord& service = **after;
        Entry& entry = by_owner_[service.owner.uid];
        slot(entry, service.replica).service = *after;
        entry.dependents.services_being_created.erase(service.replica);
        entry.service_deadlines.erase(service.replica);
    }
}

const Dependents& Table::of(const JobUid& job_uid) const {
    static const Dependents kNone;
    auto it = by_owner_.find(job_uid);
    return it == by_owner_.end() ? kNone : it->second.dependents;
}

void Table::pod_create_sent(const JobUid& job_uid, const jobs::ReplicaId& replica, Instant until) {
    Entry& entry = by_owner_[job_uid];
    entry.dependents.pods_being_created.insert(replica);
    entry.pod_deadlines[replica] = until;
}

void Table::service_create_sent(const JobUid& job_uid, const jobs::ReplicaId& replica,
                                Instant until) {
    Entry& entry = by_owner_[job_uid];
    entry.dependents.services_being_created.insert(replica);
    entry.service_deadlines[replica] = until;
}

void Table::delete_sent(const JobUid& job_uid, const std::string& uid, Instant until) {
    Entry& entry = by_owner_[job_uid];
    entry.dependents.being_deleted.insert(uid);
    entry.delete_deadlines[uid] = until;
}

void Table::pod_create_failed(const JobUid& job_uid, const jobs::ReplicaId& replica) {
    Entry& entry = by_owner_[job_uid];
    entry.dependents.pods_being_created.erase(replica);
    entry.pod_deadlines.erase(replica);
    drop_if_empty(job_uid);
}

void Table::service_create_failed(const JobUid& job_uid, const jobs::ReplicaId& replica) {
    Entry& entry = by_owner_[job_uid];
    entry.dependents.services_being_created.erase(replica);
    entry.service_deadlines.erase(replica);
    drop_if_empty(job_uid);
}

void Table::delete_failed(const JobUid& job_uid, const std::string& uid) {
    Entry& entry = by_owner_[job_uid];
    entry.dependents.being_deleted.erase(uid);
    entry.delete_deadlines.erase(uid);
    drop_if_empty(job_uid);
}

Instant Table::expire(const JobUid& job_uid, Instant now) {
    auto it = by_owner_.find(job_uid);
    if (it == by_owner_.end()) return Instant::max();
    Entry& entry = it->second;
    Dependents& dependents = entry.dependents;
    const Instant next =
        std::min({expire_one(entry.pod_deadlines, dependents.pods_being_created, now),
                  expire_one(entry.service_deadlines, dependents.services_being_created, now),
                  expire_one(entry.delete_deadlines, dependents.being_deleted, now)});
    drop_if_empty(job_uid);
    return next;
}

void Table::drop_if_empty(const JobUid& job_uid) {
    auto it = by_owner_.find(job_uid);
    if (it != by_owner_.end() && it->second.empty()) by_owner_.erase(it);
}

}  // namespace muster::operators
