#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/internal/objects/output_format.h"
#include "manifest/adjust.h"

namespace muster::cli {

struct SimulateOptions {
    std::vector<std::string> files = {};     ///< manifests, or one scenario or the name of one
    manifest::Adjustments adjustments = {};  ///< of manifests
    bool strict = false;                     ///< unknown fields of manifests are errors
    /// The flags that only manifests can have, as they were written, for replays.
    std::vector<std::string> manifest_flags = {};
    std::uint64_t seed = 1;
    std::uint64_t seeds = 1;  ///< number of seeds from `seed` on
    std::optional<int> nodes = {};
    std::string faults = {};  ///< a file or the name of a scenario; may be empty
    bool list_faults = false;
    std::optional<std::chrono::nanoseconds> duration = {};
    bool trace = false;
    OutputFormat output = OutputFormat::kNone;  ///< or kJson
};

}  // namespace muster::cli
