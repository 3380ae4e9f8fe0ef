#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "pod_init/init_protocol.h"
#include "process/cgroup_entry.h"

namespace muster::pod_init {

/// What to execute; refers to the strings that it was made from.
struct Program {
    std::vector<std::string> candidates;
    std::vector<char*> argv;
    std::vector<char*> environment;
};

Program find_program(std::vector<std::string>& argv, std::vector<std::string>& environment);

/// The environment that a process of the container starts with.
struct Surroundings {
    const char* working_dir;
    const process::CgroupEntry& groups;
    const Identity& identity;
};

struct StandardStreams {
    int input;
    int output;
    int error;
    bool terminal = false;  ///< `input` is a terminal, and becomes the session's
};

struct Launched {
    pid_t pid = -1;
    StartStage stage = StartStage::kOther;  ///< of a failure, or kOther for the exec itself
    int error = 0;
    const char* step = "";  ///< of kIdentity
};

/// Executes the program in a new child, or returns the error of the most telling attempt. Uses
/// vfork if possible: nothing is copied for a process that is about to be replaced.
Launched execute(const Program& program, const Surroundings& surroundings, StandardStreams streams);

}  // namespace muster::pod_init
