#pragma once

namespace muster::pod_tools {

/// `muster-start COMMAND...`, and under the names of a Python that Python: returns the exit status
/// if it could not become another program.
int run_start(int argc, char** argv, char** environment);

}  // namespace muster::pod_tools
