#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "pod_init/init_protocol.h"
#include "process/cgroup_entry.h"

namespace muster::pod_init {

/// What is to be executed; refers to the strings that it was made of.
struct Program {
    std::vector<std::string> candidates;
    std::vector<char*> argv;
    std::vector<char*> environment;
};

Program find_program(std::vector<std::string>& argv, std::vector<std::string>& environment);

/// What a process of the container begins with.
struct Surroundings {
    const char* working_dir;
    const process::CgroupEntry& groups;
    const Identity& identity;
};

struct StandardStreams {
    int input;
    int output;
    int error;
    bool terminal = false;  ///< `input` is one, and becomes the session's
};

struct Launched {
    pid_t pid = -1;
    StartStage stage = StartStage::kOther;  ///< of a failure, or kOther for the exec itself
    int error = 0;
    const char* step = "";  ///< of kIdentity
};

/// Executes the program in a new child, or says with which error the most telling attempt failed.
/// vfork where that does: nothing is copied for a process that is about to be replaced.
Launched execute(const Program& program, const Surroundings& surroundings, StandardStreams streams);

}  // namespace muster::pod_init
