#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::ask_master {

/// The text of `muster ask-master --help`.
std::string_view help_text();

/// `muster ask-master`: attends at the job's master for the program that started it, and answers its
/// questions (lines.h) from standard input to standard output until that ends. Returns the exit
/// status that the help text has. `words` are the arguments, `environment` is "NAME=VALUE". Blocks;
/// the loop is its own.
///
/// With "--for COMMAND..." this process becomes the command, and a child of it attends for as long as
/// the command or a child of that lives. To be called before the process has a second thread.
int run_ask_master(const std::vector<std::string>& words,
                   const std::vector<std::string>& environment);

}  // namespace muster::ask_master
