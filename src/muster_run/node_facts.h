#pragma once

#include <span>
#include <string>
#include <string_view>

#include "agent/launch/endpoint.h"
#include "agent/launch/flag_values.h"
#include "agent/launch/flags.h"
#include "agent/launch/worker_command.h"

namespace muster::run {

/// What this machine has for workers: CPUs that this process may use, GPUs that it sees.
agent::Devices devices_here(const agent::Variables& variables);

/// The path that a word without '/' stands for; empty: nothing of these names can be executed. The
/// first folder that has one of them counts, and in it the first name.
std::string find_in_path(std::span<const std::string_view> names,
                         const agent::Variables& variables);

/// By agent::kPythonNames: the Python of an environment that was activated, which goes before the
/// system's in PATH, whatever both are called.
std::string python_here(const agent::Variables& variables);

agent::FileFacts facts_of(const agent::FileToCheck& file, const agent::Variables& variables);

/// Its host names, and the addresses of all its interfaces.
agent::NodeNames names_here();

/// The address by which this machine reaches another; empty: none does. No packet is sent.
std::string address_towards(const std::string& address);

}  // namespace muster::run
