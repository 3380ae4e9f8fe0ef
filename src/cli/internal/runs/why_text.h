#pragma once

#include <string>

#include "cli/internal/record/run_objects.h"

namespace muster::cli {

/// Why each job (and bare pod) is in the state that it is in: how it ended and what decided, or what it
/// waits for, what was restarted and why. Pure.
std::string why_text(const RunObjects& objects);

}  // namespace muster::cli
