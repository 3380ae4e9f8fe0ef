#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control_plane/machine.h"
#include "manifest/check.h"

namespace muster::cli {

/// What containers find when they start here.
struct Surroundings {
    std::string working_dir;  ///< of containers without one; absolute
    std::string path;         ///< the caller's PATH
    /// --mount: a path of the image -> the directory that stands in for it. Absolute.
    std::vector<std::pair<std::string, std::string>> mounts;
    /// What pods see of this machine's /tmp although they have their own (kept_below_tmp.h).
    std::vector<std::string> kept_below_tmp = {};

    /// The path on this machine that a --mount puts at a path of containers; nullopt if none does.
    std::optional<std::string> mounted(const std::string& in_container) const;
};

struct MachineProblems {
    std::vector<manifest::Problem> always;
    /// Where each pod has a /tmp of its own: programs and scripts that this machine has only in its
    /// /tmp (or /dev/shm), and that nothing in the pod can make.
    std::vector<manifest::Problem> with_own_tmp;
};

/// Everything in the checked objects that can't work on this machine: containers without a command,
/// and missing programs, scripts, interpreters, directories and devices. Each problem says which
/// flag or change helps. Reads the machine, changes nothing.
MachineProblems check_machine(std::vector<manifest::CheckedObject>& objects,
                              const control_plane::Machine& machine,
                              const Surroundings& surroundings);

}  // namespace muster::cli
