#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/flags.h"
#include "workers/spares/spares.h"

namespace muster::run {

/// What warm spares need of files (docs/design/warm.md): the program that they are, which this
/// program carries, in a folder of its own below the job's directory; and what workers of earlier
/// runs have imported, which outlives the job.
class WarmFiles {
  public:
    /// `command`: the beginning of the workers' own, by which one program's list is known.
    static Result<WarmFiles> write(const std::filesystem::path& job_dir,
                                   const launch::Variables& variables,
                                   const std::vector<std::string>& command);

    workers::SpareOptions options(std::vector<std::string> modules) const;
    /// The folder, not the list.
    void remove() const;

  private:
    WarmFiles(std::filesystem::path folder, std::filesystem::path import_list)
        : folder_(std::move(folder)), import_list_(std::move(import_list)) {}

    std::filesystem::path folder_;
    std::filesystem::path import_list_;
};

/// The name of a program's list: the script's, and what tells it from others of that name in other
/// directories or for other interpreters.
std::string import_list_name(const std::filesystem::path& cwd,
                             const std::vector<std::string>& command);

}  // namespace muster::run
