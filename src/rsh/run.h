#pragma once

#include <string>
#include <vector>

#include "rsh/arguments.h"
#include "rsh/client.h"

namespace muster::rsh {

/// Runs the program that the arguments describe: returns its exit status; errors are written to
/// stderr. `environment` ("NAME=VALUE") is that of a server's commands.
int run(const Arguments& arguments, std::vector<std::string> environment, Resolve resolve);

}  // namespace muster::rsh
