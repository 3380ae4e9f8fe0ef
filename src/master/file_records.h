#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "master/records.h"

namespace muster::master {

/// A job's record in one file, replaced atomically: written beside it, then renamed. Masters on one
/// machine, or on a file system with locks, exclude each other with a lock file beside it, which is
/// held for a single claim or write.
///
/// The record outlives its master's process but need not outlive the machine, which also runs the
/// job's agent. So writes are not synced to disk: workers wait for the record, and a disk that is
/// taking a checkpoint can be busy for many seconds. An empty file, which a power cut may leave,
/// counts as no record.
///
/// Owns a thread, because file systems may block; it ends with the object. Destroy it before the
/// loop of its callers, when no call is waiting in it.
class FileRecords final : public Records {
  public:
    /// The folder must exist. The lock is `path` + ".lock". `first` is the epoch to claim if there
    /// is no record; otherwise the claimed epoch is above both. Pass a time, so that epochs rise
    /// even if a job's record is lost with its node, or is older than one claimed elsewhere.
    /// `known`: the record as another master told it to its agents; used if it is newer.
    explicit FileRecords(std::string path, std::uint64_t first = 1,
                         std::shared_ptr<const JobRecord> known = {});
    ~FileRecords() override;

    /// kInvalid: the file is not a record, or is damaged.
    Task<Result<JobRecord>> claim() override;
    Task<Result<void>> write(JobRecord record) override;

  private:
    struct State;
    std::uint64_t first_;
    std::shared_ptr<const JobRecord> known_;
    std::unique_ptr<State> state_;
};

}  // namespace muster::master
