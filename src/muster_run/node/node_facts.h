#pragma once

#include <span>
#include <string>
#include <string_view>

#include "launch/endpoint.h"
#include "launch/flag_values.h"
#include "launch/flags.h"
#include "launch/worker_command.h"

namespace muster::run {

/// What this machine has for workers: CPUs that this process may use, GPUs that it sees.
launch::Devices devices_here(const launch::Variables& variables);

/// Whether a path is a link to the program that stands for each Python in pods (pod_tools/start).
bool stands_for_python(const std::string& path);

/// The path that a word without '/' stands for; empty: nothing of these names can be executed. The
/// first folder that has one of them counts, and in it the first name. What only looks for the next
/// Python of PATH does not count.
std::string find_in_path(std::span<const std::string_view> names,
                         const launch::Variables& variables);

/// By launch::kPythonNames: the Python of an environment that was activated, which goes before the
/// system's in PATH, whatever both are called.
std::string python_here(const launch::Variables& variables);

launch::FileFacts facts_of(const launch::FileToCheck& file, const launch::Variables& variables);

/// The descriptor of this program's standard input, if a worker may read it; otherwise -1: it is
/// closed, or a terminal at which another program is in front.
int input_here();

/// Its host names, and the addresses of all its interfaces.
launch::NodeNames names_here();

/// The address by which this machine reaches another; empty: none does. No packet is sent.
std::string address_towards(const std::string& address);

}  // namespace muster::run
