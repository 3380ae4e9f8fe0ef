#include "operator/internal/cache/job_spec_cache.h"

namespace muster::operators {

void JobSpecCache::put(const JobUid& uid, std::int64_t generation,
                       std::shared_ptr<const jobs::Job> job, bool is_new) {
    forget(uid);
    Entry entry{uid, generation, std::move(job), is_new && new_.size() < most_new_};
    Entries& entries = of(entry);
    entries.push_front(std::move(entry));
    by_uid_[uid] = entries.begin();
    if (newest_first_.size() > capacity_) forget(JobUid(newest_first_.back().uid));
}

std::shared_ptr<const jobs::Job> JobSpecCache::find(const JobUid& uid, std::int64_t generation) {
    const auto known = by_uid_.find(uid);
    if (known == by_uid_.end() || known->second->generation != generation) return nullptr;
    Entries& entries = of(*known->second);
    entries.splice(entries.begin(), entries, known->second);
    return known->second->job;
}

void JobSpecCache::forget(const JobUid& uid) {
    const auto known = by_uid_.find(uid);
    if (known == by_uid_.end()) return;
    of(*known->second).erase(known->second);
    by_uid_.erase(known);
}

}  // namespace muster::operators
