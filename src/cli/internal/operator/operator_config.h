#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/internal/flags/known_verbs.h"

namespace muster::cli {

/// The flags of a configuration file: a YAML map from flags without their dashes to a string,
/// number, boolean, or a list of these if a flag may be repeated. kInvalid names the file, line and
/// key.
Result<std::vector<std::string>> flags_of_config(const std::string& file, const std::string& text,
                                                 const KnownVerb& verb);

}  // namespace muster::cli
