#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "cli/internal/objects/object_table.h"
#include "cli/internal/record/run_choice.h"

namespace muster::cli {

/// A line of `muster ps`: a run of this machine, or a job of a server.
struct RunRow {
    std::string name;
    std::string kind;
    std::string where;  ///< "here", "muster up", "context prod"
    std::string state;
    bool is_run = false;  ///< of this machine
    bool alive = false;
    int restarts = 0;
    std::optional<WallTime> started;
    std::optional<WallTime> ended;
    std::optional<int> status;  ///< exit status of a run that has ended

    friend bool operator==(const RunRow&, const RunRow&) = default;
};

// Pure.
RunRow row_of(const FoundRun& run);
/// Of a job as a server has it; nothing if it is not a job.
std::optional<RunRow> row_of(const json::value& job, const std::string& where);

/// Live ones first, then newest first.
void sort_rows(std::vector<RunRow>& rows);
ObjectTable run_table(const std::vector<RunRow>& rows, WallTime now);
std::string rows_json(const std::vector<RunRow>& rows);

}  // namespace muster::cli
