#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "base/time/clock.h"
#include "base/unique_fd.h"

namespace muster::workers {

/// How far a worker has come, as it says itself: 64 bytes that it maps, named by MUSTER_PROGRESS.
/// At 0 its steps, at 8 the monotonic time of the last in nanoseconds, both little-endian; 0: it
/// does not count. Read and not mapped here, so that a worker that cuts its file harms only itself.
/// Owns the descriptor; the file is the job directory's.
class ProgressFile {
  public:
    /// Made anew, with zeros.
    static Result<ProgressFile> create(const std::filesystem::path& path);
    /// One that an earlier agent made.
    static Result<ProgressFile> open(const std::filesystem::path& path);

    std::uint64_t steps() const { return word(0); }
    Instant last_step() const { return Instant{Duration{static_cast<std::int64_t>(word(1))}}; }

  private:
    explicit ProgressFile(UniqueFd file) : file_(std::move(file)) {}
    std::uint64_t word(int index) const;

    UniqueFd file_;
};

}  // namespace muster::workers
