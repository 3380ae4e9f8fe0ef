#pragma once

#include <string>
#include <vector>

#include "cli/internal/flags/verb.h"
#include "cli/internal/script/script_line.h"

namespace muster::cli {

/// Takes what follows a verb apart. `same`: another object of that verb, which says which of its
/// flags have values. Looks for programs in the caller's PATH.
ScriptLine take_script_line(const std::vector<std::string>& words, Verb& same);

}  // namespace muster::cli
