#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/internal/connect/on_server.h"
#include "cli/internal/connect/server_options.h"
#include "cli/internal/record/run_choice.h"
#include "control_plane/daemon/caller.h"

namespace muster::cli {

/// The run of this user that a word of a line means; nothing: it means an object of a server. A run's
/// own name always means it. The name of its job does while the run lives, or if this user's
/// `muster up` on this machine has no job of that name. KIND/NAME, and the flags of a server, mean a
/// server's. Asks `muster up` if need be, and so may block.
/// kNotFound: there is no such run, and no server either.
Result<std::optional<FoundRun>> find_named_run(const std::string& word, const ServerOptions& server,
                                               const control_plane::Caller& caller);

/// Does a verb's work with what the word means: with the run, or else with the server. Returns the exit
/// status; an error is printed as of on_server().
int on_run_or_server(const std::string& verb, const std::string& word, const ServerOptions& server,
                     const std::function<Result<int>(const FoundRun&)>& with_run,
                     const ServerWork& with_server);

/// The run that a word names, or kNotFound with what there is.
Result<FoundRun> require_run(const std::string& word, const control_plane::Caller& caller);

/// Whether this user's `muster up` serves on this machine.
bool up_is_here(const control_plane::Caller& caller);
/// How clients reach it.
ServerOptions options_of_up(const control_plane::Caller& caller);

/// The server of a run on a cluster, and its first job there.
ServerOptions server_of(const RunRecord& record);
/// "pytorchjob/digits".
std::string job_word_of(const RunRecord& record);

}  // namespace muster::cli
