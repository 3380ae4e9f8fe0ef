#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"

namespace muster::cli {

/// What follows `muster rsh`. Not by the parser of the other verbs: what follows the host is
/// somebody else's command line, and before it come the options that launchers give to ssh. Returns
/// what is wrong, or nothing.
std::optional<std::string> parse_rsh_line(const std::vector<std::string>& words,
                                          RshOptions& options);

}  // namespace muster::cli
