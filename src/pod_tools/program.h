#pragma once

namespace muster::pod_tools {

/// The program, as main() is called: by a name of the agent that agent, and whatever its file is
/// called otherwise what its first word says. Returns its exit status.
int run(int argc, char** argv, char** environment);

}  // namespace muster::pod_tools
