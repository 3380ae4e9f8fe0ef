#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// The messages between an agent and a warm spare (docs/design/warm.md, "Protocol"). Pure.

namespace muster::workers {

/// Sent once, after the spare's imports.
struct SpareReady {
    bool warm = false;
    std::string why = {};                 ///< why it is not warm
    std::string module = {};              ///< the module to blame; empty if none is
    std::string note = {};                ///< why the learnt modules could not be used
    std::vector<std::string> reads = {};  ///< environment variables read during imports

    friend bool operator==(const SpareReady&, const SpareReady&) = default;
};

/// Sent when the spare becomes the worker.
struct SpareStarted {
    bool warm = false;
    std::string why = {};  ///< why the worker starts like any other

    friend bool operator==(const SpareStarted&, const SpareStarted&) = default;
};

/// Preceded by its length. `environment`: "NAME=value". The worker's stdout and stderr are sent
/// with it, as two descriptors.
std::string start_message(const std::vector<std::string>& arguments,
                          const std::vector<std::string>& environment, const std::string& cwd);

/// Removes the first message from the received bytes and returns it without its length; nullopt if
/// it is incomplete. kInvalid: it is longer than allowed.
Result<std::optional<std::string>> take_message(std::string& received);

/// kInvalid: it is not such a message.
Result<SpareReady> parse_ready(std::string_view message);
/// kUnavailable, with the spare's reason: it refuses.
Result<SpareStarted> parse_started(std::string_view message);

}  // namespace muster::workers
