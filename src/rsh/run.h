#pragma once

#include <string>
#include <vector>

#include "rsh/arguments.h"
#include "rsh/client.h"

namespace muster::rsh {

/// What the line asks for, as a whole program: returns its exit status, and what went wrong is on
/// standard error. `environment` ("NAME=VALUE") is what a server's commands get.
int run(const Arguments& arguments, std::vector<std::string> environment, Resolve resolve);

}  // namespace muster::rsh
