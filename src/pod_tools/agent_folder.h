#pragma once

#include <string>

#include "base/result.h"

namespace muster::pod_tools {

/// Puts everything by which the commands of a pod reach our agent into a directory that is there:
///
///     muster              this program, `own_file`
///     bin/                first in PATH:
///         muster-start    what starts a command so (start/start.h)
///         python, python3       links to it
///         torchrun, dlrover-run, muster-run   links to ../muster
///     python/             first in PYTHONPATH: the package `muster`, and sitecustomize.py
///
/// It may be done again, while what was put there runs. Errors name the file.
Result<void> make_agent_folder(const std::string& own_file, const std::string& directory);

}  // namespace muster::pod_tools
