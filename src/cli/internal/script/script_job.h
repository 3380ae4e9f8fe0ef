#pragma once

#include <string>

#include "base/result.h"
#include "cli/internal/script/script_flags.h"
#include "control_plane/machine.h"
#include "manifest/manifest.h"

namespace muster::cli {

/// The job of a script, and what was decided that its user did not say.
struct ScriptJob {
    manifest::Document document;
    std::string told;  ///< "a PyTorchJob, as it imports torch: 1 worker, 2 processes"
};

/// Looks at the script, at the modules beside it that it imports, and at this machine's devices, for
/// what the options leave open. `on_cluster`: this machine's size means nothing. kInvalid: what is
/// wrong and what to do.
Result<ScriptJob> make_script_job(const ScriptOptions& options,
                                  const control_plane::Machine& machine, bool on_cluster);

/// The modules that a script and those beside it import: of each module that is a file there, in
/// turn, those that it imports, and 64 files at most. Reads files; `script` may be relative to the
/// working directory of the process. A file that can't be read has none.
std::vector<std::string> modules_of_script(const std::string& script);

}  // namespace muster::cli
