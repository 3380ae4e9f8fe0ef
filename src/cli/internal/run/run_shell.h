#pragma once

#include <boost/asio/signal_set.hpp>
#include <optional>
#include <vector>

#include "base/rng.h"
#include "cli/internal/prepare/prepare.h"
#include "cli/internal/run/console.h"
#include "cli/internal/run/run_options.h"
#include "cli/internal/run/run_session.h"
#include "control_plane/daemon/caller.h"

namespace muster::cli {

// What `muster run` does around its session, on this machine and on a cluster.

/// Prints "muster run: ..." and returns 1.
int fail_run(const Error& error);

/// Reports what is wrong with the manifest, and prints the result of a dry run. Returns the exit
/// status if there is nothing more to do.
std::optional<int> end_before_start(const RunOptions& options, Prepared& prepared);

/// The same for what is wrong only where each pod has a /tmp of its own.
std::optional<int> end_for_own_tmp(const Prepared& prepared);

/// Names the jobs that have a generateName only: a run watches its jobs by name.
void give_names(std::vector<manifest::CheckedObject>& objects, Rng& rng);

Result<void> make_logs_dir(const RunOptions& options);
ConsoleOptions console_of_run(const RunOptions& options, const control_plane::Caller& caller);
RunSession::Options session_options(const RunOptions& options);

/// Turns signals into stops until it is cancelled.
Task<void> watch_signals(asio::signal_set& signals, RunSession& session);

/// Prints the session's final output, and returns the exit status.
int end_run(const RunOptions& options, const RunSession& session, int status);

}  // namespace muster::cli
