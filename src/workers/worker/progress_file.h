#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "base/time/clock.h"
#include "base/unique_fd.h"

namespace muster::workers {

/// A worker's own count of its progress: 64 bytes that it maps, named by MUSTER_PROGRESS. At offset
/// 0 its steps, at 8 the monotonic time of the last step in nanoseconds, both little-endian; 0 if
/// it does not count. Read and not mapped here, so that a worker that truncates its file harms only
/// itself. Owns the descriptor; the file belongs to the job's directory.
class ProgressFile {
  public:
    /// Creates it, filled with zeros.
    static Result<ProgressFile> create(const std::filesystem::path& path);
    /// Opens the file of an earlier agent.
    static Result<ProgressFile> open(const std::filesystem::path& path);

    std::uint64_t steps() const { return word(0); }
    Instant last_step() const { return Instant{Duration{static_cast<std::int64_t>(word(1))}}; }

  private:
    explicit ProgressFile(UniqueFd file) : file_(std::move(file)) {}
    std::uint64_t word(int index) const;

    UniqueFd file_;
};

}  // namespace muster::workers
