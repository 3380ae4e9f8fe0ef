#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "process/program_file.h"
#include "workers/workers.h"

namespace muster::workers {

/// "worker 5 (local rank 1)".
std::string name_of(const launch::WorkerStart& worker);

/// What a shim executes to start a worker.
struct WorkerProgram {
    std::vector<std::string> candidates = {};
    std::vector<std::string> environment = {};  ///< "NAME=value"
};

/// kInvalid, with what to do about it: the program is missing or can't be executed.
Result<WorkerProgram> find_program(const launch::WorkerStart& worker);
/// The error to report after execve has failed with that errno.
Error why_not_executed(const launch::WorkerStart& worker, int error);

}  // namespace muster::workers
