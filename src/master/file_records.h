#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "master/records.h"

namespace muster::master {

/// A job's record in one file, which is replaced as a whole: written beside it, and renamed.
/// Masters on one machine, or over a file system with locks, take turns by a lock file beside it;
/// the lock is held for one claim or write.
///
/// It outlives its master's process, and need not outlive the machine, which has the job's agent
/// as well: nothing waits for the disk, since workers wait for the record, and a disk that takes a
/// checkpoint can be busy for many seconds. An empty file, as a power cut may leave it, is none.
///
/// Owns a thread, since a disk may take its time; that ends with it. It is destroyed before the
/// loop of its callers, and nothing may wait in it then.
class FileRecords final : public Records {
  public:
    /// The folder exists. The lock is `path` + ".lock". `first` is claimed where there is no
    /// record, and something later where there is one: a time, where a job's record may be lost
    /// with its node, or be older than what was claimed elsewhere.
    /// `known`: what another master's agents were told of its record; it counts where it is newer.
    explicit FileRecords(std::string path, std::uint64_t first = 1,
                         std::shared_ptr<const JobRecord> known = {});
    ~FileRecords() override;

    /// kInvalid: the file is none of ours, or damaged.
    Task<Result<JobRecord>> claim() override;
    Task<Result<void>> write(JobRecord record) override;

  private:
    struct State;
    std::uint64_t first_;
    std::shared_ptr<const JobRecord> known_;
    std::unique_ptr<State> state_;
};

}  // namespace muster::master
