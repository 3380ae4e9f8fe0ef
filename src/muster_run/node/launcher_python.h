#pragma once

#include <string>

#include "launch/flags.h"

namespace muster::run {

/// The interpreter that a launcher of Python's runs in, and its workers with it: what the first
/// line of its script names (`torchrun` of a virtual environment names that environment's), or
/// itself if it is a `python`. A launcher without '/' is looked up in PATH. Empty: it is not there,
/// is no script of Python's, or its interpreter can't be executed.
std::string python_of(const std::string& launcher, const launch::Variables& variables);

/// The launcher of this name in PATH, behind the link to this program that `own` is or PATH has,
/// which took its place there. Empty: there is none.
std::string launcher_behind(const std::string& own, const std::string& name,
                            const launch::Variables& variables);

}  // namespace muster::run
