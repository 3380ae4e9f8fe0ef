#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "launch/flags.h"
#include "launch/plan.h"

namespace muster::run {

/// The value of --token-file for a token that is made here.
inline constexpr std::string_view kNewToken = "new";

/// The command of this node, given by its words and the flags that were read from them, as a line
/// for the shells of the others. It has the token in a variable, which `ps` does not show to other
/// users. It lacks --node-rank and --local-addr, which each node has of its own. Pure.
std::string command_for_others(const std::vector<std::string>& words,
                               const launch::LaunchFlags& flags, std::string_view token);

/// Makes a token and puts it into the variables in place of the plan's token file. Returns what the
/// user is to be told: the command for the other nodes; nothing for a job that has none. Reads the
/// words of this process.
Result<std::string> hand_out_new_token(const launch::LaunchFlags& flags, launch::LaunchPlan& plan,
                                       launch::Variables& variables);

}  // namespace muster::run
