#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manifest/yaml/source_map.h"

namespace muster::manifest {

enum class Severity { kError, kWarning, kNote };

/// "error", "warning" or "note".
std::string_view severity_name(Severity severity);

/// One thing that is wrong with the user's input, and where.
struct Problem {
    Severity severity = Severity::kError;
    std::string source{};  ///< file name, "-" for standard input, or the flag that set the value
    Place place{};
    std::string field{};    ///< "spec.pytorchReplicaSpecs.Master"; empty: not about a field
    std::string message{};  ///< what is wrong and what to do

    friend bool operator==(const Problem&, const Problem&) = default;
};

/// "job.yaml:12:7: error: spec.x: must be ..."; editors and CI systems find the place in it.
std::string format(const Problem& problem);

/// Sorts by the order of the given sources and by line; removes duplicates.
void sort_problems(std::vector<Problem>& problems);

bool has_errors(const std::vector<Problem>& problems);

/// "2 errors and 1 warning"; "" if there are none.
std::string count_problems(const std::vector<Problem>& problems);

}  // namespace muster::manifest
