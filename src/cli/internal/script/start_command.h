#pragma once

#include <string>
#include <vector>

#include "cli/internal/script/job_request.h"

namespace muster::cli {

/// Whether a word is the name of a Python script.
bool is_python_script(std::string_view word);
/// "python", "python3.11", also with a path.
bool is_python(std::string_view word);
/// torchrun, `python -m torch.distributed.run`, muster-run: how many words they are; 0: none of them.
std::size_t torchrun_words(const std::vector<std::string>& command);
bool is_mpirun(std::string_view word);

/// The Python script (or, after -m, module) that a command starts, as its words name it; empty:
/// another program.
std::string script_of_command(const std::vector<std::string>& command);

/// How many processes an MPI worker has.
int slots_of(const JobRequest& request);

/// The words that start the request's program in a container of its job: an agent before a script
/// of PyTorch, mpirun before one of MPI, an interpreter before a script. What the user typed stays
/// as it is, word by word. Pure.
std::vector<std::string> start_command(const JobRequest& request);

}  // namespace muster::cli
