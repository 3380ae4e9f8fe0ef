#pragma once

#include <string>
#include <vector>

namespace muster::pod_tools {

/// The program, whatever its file is called: `words` are the arguments after its name,
/// `environment` is "NAME=VALUE". Returns its exit status.
int run(const std::vector<std::string>& words, std::vector<std::string> environment);

}  // namespace muster::pod_tools
