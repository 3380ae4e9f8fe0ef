#pragma once

#include <span>
#include <string>

namespace muster::pod_tools {

/// The name of the program; `python` and `python3` beside it are links to it.
inline constexpr const char* kStartName = "muster-start";

/// Whether a path leads to this program or another copy of it, by whatever links and spelling.
bool is_start_program(const std::string& path);

/// The folder in which this program lies, without links: found by the first of the paths by which it
/// may have been called that leads to it. Empty: none does. /proc is not needed.
std::string own_folder(std::span<const std::string> called);

/// Whether it is a file that this process may execute.
bool is_program(const std::string& path);

/// Whether it is an interpreter, and no script or other program that looks for one (as the shims of
/// pyenv, asdf and mise do).
bool is_interpreter(const std::string& path);

}  // namespace muster::pod_tools
