#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/internal/flags/flags.h"
#include "cli/internal/script/framework.h"
#include "cli/internal/script/job_request.h"

namespace muster::cli {

/// What a line says about the job of a script.
struct ScriptOptions {
    std::vector<std::string> command;    ///< empty: manifests are run
    std::optional<Framework> framework;  ///< --framework; unset: seen from the script
    JobRequest request;                  ///< all but what is seen from script and machine
    bool workers_given = false;
    bool processes_given = false;
    bool gpus_given = false;
    bool print = false;  ///< the manifest on standard output, and nothing is started
    std::string save;    ///< a file that keeps the manifest
};

/// The flags of verbs that make a job of a script.
class ScriptFlags {
  public:
    void declare(Flags& flags, ScriptOptions& options);
    /// Returns what is wrong with them, also where there is no script that they could be about.
    std::optional<std::string> finish(const Flags& flags, ScriptOptions& options) const;

  private:
    std::string framework_;
    std::string workers_;
    std::string gpus_;
    std::string max_restarts_;
    std::string servers_;
    std::string deadline_;
    std::vector<std::string> labels_;
};

}  // namespace muster::cli
