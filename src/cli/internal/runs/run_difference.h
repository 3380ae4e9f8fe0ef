#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/internal/record/run_record.h"

namespace muster::cli {

/// What a run's folder says.
struct RunTexts {
    RunRecord record;
    std::string manifest;
    std::string environment;
    std::string packages;
};

/// Something in which two runs differ; an empty text: the run has no such thing.
struct RunDifference {
    std::string section;  ///< "result", "command", "manifest", "environment", "packages"
    std::string what;     ///< within the section; may be empty
    std::string before;
    std::string after;

    friend bool operator==(const RunDifference&, const RunDifference&) = default;
};

// Pure.
std::vector<RunDifference> differences_of(const RunTexts& before, const RunTexts& after);
/// For people: a section after the other.
std::string differences_text(const std::vector<RunDifference>& differences);
std::string differences_json(const std::vector<RunDifference>& differences);

}  // namespace muster::cli
