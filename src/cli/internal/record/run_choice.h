#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/internal/record/run_record.h"

namespace muster::cli {

/// A run that was found on this machine.
struct FoundRun {
    RunRecord record;
    std::filesystem::path folder;
    bool alive = false;       ///< its process lives
    std::uint64_t bytes = 0;  ///< of its folder, if it has ended

    /// "running", how it ended, or "lost": its process was killed.
    std::string state() const;
};

// Pure.

/// The run that a word names: its own name, or that of its job, whose newest run it is then. Null:
/// none.
const FoundRun* choose_run(const std::vector<FoundRun>& runs, const std::string& word);

struct RunLimits {
    std::size_t runs = 100;
    std::uint64_t bytes = std::uint64_t{4} << 30;
};

/// The ended runs that have to go, so that the rest is within the limits: the oldest first.
std::vector<FoundRun> runs_over_limits(std::vector<FoundRun> runs, const RunLimits& limits);

/// Newest first.
void sort_runs(std::vector<FoundRun>& runs);

}  // namespace muster::cli
