#pragma once

namespace muster::cli {

/// The whole program: parses the arguments, runs the verb and returns the exit status.
int run_command_line(int argc, char** argv);

}  // namespace muster::cli
