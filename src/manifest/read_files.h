#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "manifest/manifest.h"

namespace muster::manifest {

/// The content of a file, or of standard input for "-". Content far too large for a manifest is cut
/// off where read_manifest() refuses it.
Result<std::string> read_file(const std::string& file);

/// The documents of several files, those of old versions converted, with problems for what can't be
/// read and warnings for fields that changed. "-": standard input.
Manifest read_manifest_files(const std::vector<std::string>& files);

/// The same without conversions.
Manifest read_files_as_written(const std::vector<std::string>& files);

}  // namespace muster::manifest
