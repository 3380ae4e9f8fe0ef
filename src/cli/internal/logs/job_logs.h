#pragma once

#include <string>

#include "cli/internal/connect/connection.h"
#include "cli/internal/logs/log_options.h"
#include "cli/internal/run/console.h"

namespace muster::cli {

/// Shows the logs of a job or pod of a server, of its live pods and of those whose logs were kept; with
/// `follow` until it has ended. What can't be read is told as of `verb`. The options and the console
/// outlive the connection. Returns the exit status. kNotFound: no such object, or no such log.
Task<Result<int>> show_job_logs(Connection& connection, const LogsOptions& options,
                                Console& console, std::string verb);

}  // namespace muster::cli
