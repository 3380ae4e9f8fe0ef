#pragma once

#include <filesystem>

#include "base/result.h"
#include "launch/flags.h"

namespace muster::run {

/// The hook that sees a worker's steps and what it dies of (python/muster/src/muster/hook), which
/// the program carries: written into a folder of its own below the job's directory, so that it is
/// there in any image.
class Hook {
  public:
    static Result<Hook> write(const std::filesystem::path& job_dir);

    /// Puts the folder in front of PYTHONPATH, and asks for the error.
    void add_to(launch::Variables& variables) const;
    /// With what Python has left in it.
    void remove() const;

  private:
    explicit Hook(std::filesystem::path folder) : folder_(std::move(folder)) {}

    std::filesystem::path folder_;
};

}  // namespace muster::run
