#pragma once

#include <list>
#include <memory>
#include <unordered_map>

#include "jobs/job.h"
#include "operator/internal/records.h"

namespace muster::operators {

/// The whole specs of the jobs that were read last. Pods are made soon after their job was read, as
/// a rule, and for the rest it is read again: most of a job's bytes are templates that nobody looks
/// at any more. Thread: one loop.
class RecentJobs {
  public:
    explicit RecentJobs(std::size_t capacity) : capacity_(capacity) {}

    void put(const JobUid& uid, std::int64_t generation, std::shared_ptr<const jobs::Job> job);
    /// Null when it is not known, or only of another generation.
    std::shared_ptr<const jobs::Job> find(const JobUid& uid, std::int64_t generation);
    void forget(const JobUid& uid);

  private:
    struct Entry {
        JobUid uid;
        std::int64_t generation = 0;
        std::shared_ptr<const jobs::Job> job;
    };

    std::size_t capacity_;
    std::list<Entry> newest_first_;
    std::unordered_map<JobUid, std::list<Entry>::iterator> by_uid_;
};

}  // namespace muster::operators
