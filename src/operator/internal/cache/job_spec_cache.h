#pragma once

#include <list>
#include <memory>
#include <unordered_map>

#include "jobs/job.h"
#include "operator/internal/cache/projections.h"

namespace muster::operators {

/// The complete specs of jobs whose pods are about to be made: jobs for which nothing was done yet,
/// and those that were read last. Others are read again when needed: most of a job's bytes are
/// templates that are no longer used. Thread: one loop.
class JobSpecCache {
  public:
    /// `most_new`: how many jobs for which nothing was done yet; any further one counts as old.
    JobSpecCache(std::size_t capacity, std::size_t most_new)
        : capacity_(capacity), most_new_(most_new) {}

    /// `is_new`: nothing was done for it yet. It is kept until it is put as not new.
    void put(const JobUid& uid, std::int64_t generation, std::shared_ptr<const jobs::Job> job,
             bool is_new);
    /// Null if it is not known, or only in another generation.
    std::shared_ptr<const jobs::Job> find(const JobUid& uid, std::int64_t generation);
    void forget(const JobUid& uid);

  private:
    struct Entry {
        JobUid uid;
        std::int64_t generation = 0;
        std::shared_ptr<const jobs::Job> job;
        bool is_new = false;
    };
    using Entries = std::list<Entry>;

    Entries& of(const Entry& entry) { return entry.is_new ? new_ : newest_first_; }

    std::size_t capacity_;
    std::size_t most_new_;
    Entries new_;
    Entries newest_first_;
    std::unordered_map<JobUid, Entries::iterator> by_uid_;
};

}  // namespace muster::operators
