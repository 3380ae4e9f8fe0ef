#pragma once

#include <functional>
#include <string>

#include "cli/internal/connect/connection.h"
#include "cli/internal/connect/server_options.h"

namespace muster::cli {

/// The work of a verb with its server: returns the exit status, or an error.
using ServerWork = std::function<Task<Result<int>>(Connection&)>;

/// Runs `work` on a loop of its own, with the server that `options` name. An error is printed on
/// standard error as "muster VERB: ..." and returns 1; Ctrl-C cancels the work and returns 130,
/// SIGTERM 143. `work` outlives the call.
int on_server(const std::string& verb, const ServerOptions& options, const ServerWork& work);

/// What to do about an error, which the code that met it can't know: lines to append to it; may be
/// empty.
std::string advice(const Error& error, const kube::ClientConfig& access);

/// Prints an error of a verb, with the causes that the server gave.
void tell_error(const std::string& verb, const Error& error);

}  // namespace muster::cli
