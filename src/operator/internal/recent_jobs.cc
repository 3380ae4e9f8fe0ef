#include "operator/internal/recent_jobs.h"

namespace muster::operators {

void RecentJobs::put(const JobUid& uid, std::int64_t generation,
                     std::shared_ptr<const jobs::Job> job) {
    forget(uid);
    newest_first_.push_front({uid, generation, std::move(job)});
    by_uid_[uid] = newest_first_.begin();
    if (newest_first_.size() > capacity_) forget(JobUid(newest_first_.back().uid));
}

std::shared_ptr<const jobs::Job> RecentJobs::find(const JobUid& uid, std::int64_t generation) {
    const auto known = by_uid_.find(uid);
    if (known == by_uid_.end() || known->second->generation != generation) return nullptr;
    newest_first_.splice(newest_first_.begin(), newest_first_, known->second);
    return known->second->job;
}

void RecentJobs::forget(const JobUid& uid) {
    const auto known = by_uid_.find(uid);
    if (known == by_uid_.end()) return;
    newest_first_.erase(known->second);
    by_uid_.erase(known);
}

}  // namespace muster::operators
