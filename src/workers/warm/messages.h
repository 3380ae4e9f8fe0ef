#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// What an agent and a warm spare say to each other (docs/design/warm.md, "Protocol"). Pure.

namespace muster::workers {

/// What a spare says once, after its imports.
struct SpareReady {
    bool warm = false;
    std::string why = {};                 ///< not warm
    std::string module = {};              ///< that is to blame; empty: none is
    std::string note = {};                ///< why the imports modules were of no use
    std::vector<std::string> reads = {};  ///< variables that imports looked at

    friend bool operator==(const SpareReady&, const SpareReady&) = default;
};

/// What it says as it becomes the worker.
struct SpareStarted {
    bool warm = false;
    std::string why = {};  ///< it starts as any worker does

    friend bool operator==(const SpareStarted&, const SpareStarted&) = default;
};

/// With its length before it. `environment`: "NAME=value". The worker's output and error come with
/// it as two descriptors.
std::string start_message(const std::vector<std::string>& arguments,
                          const std::vector<std::string>& environment, const std::string& cwd);

/// Takes the first message off what was received, without its length; nothing: it is not whole yet.
/// kInvalid: it is longer than any may be.
Result<std::optional<std::string>> take_message(std::string& received);

/// kInvalid: it is none of these.
Result<SpareReady> parse_ready(std::string_view message);
/// kUnavailable: the spare refuses, and says why.
Result<SpareStarted> parse_started(std::string_view message);

}  // namespace muster::workers
