#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/internal/connect/server_options.h"

namespace muster::cli {

/// Of one job, `JOB` or `KIND/JOB`, or of one pod, `pod/NAME`.
struct LogsOptions {
    ServerOptions server;
    std::string about;
    std::optional<int> rank;
    std::string replica;
    std::string container;
    bool follow = false;
    bool previous = false;
    std::optional<int> attempt;  ///< of each replica; 0 is the first
    bool timestamps = false;
    bool raw = false;  ///< as the program wrote them, also on a terminal
    std::optional<std::int64_t> tail;
    std::optional<std::chrono::nanoseconds> since;
};

}  // namespace muster::cli
