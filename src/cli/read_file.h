#pragma once

#include <string>

#include "base/result.h"

namespace muster::cli {

/// All of a file, or of standard input for "-". What is far too large for a manifest is cut off
/// where read_manifest() refuses it.
Result<std::string> read_file(const std::string& file);

}  // namespace muster::cli
