#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "manifest/manifest.h"

namespace muster::manifest {

/// The content of a file, or of standard input for "-". Content far too large for a manifest is cut
/// off where read_manifest() refuses it.
Result<std::string> read_file(const std::string& file);

/// Which files of a directory are read: its own, or those of the directories in it, too.
enum class Directories { kFlat, kRecursive };

/// The documents of several files, those of old versions converted, with problems for what can't be
/// read and warnings for fields that changed. "-": standard input. A directory stands for its files
/// *.yaml, *.yml and *.json, in the order of their names; links to directories are not followed.
Manifest read_manifest_files(const std::vector<std::string>& files,
                             Directories directories = Directories::kFlat);

/// The same without conversions.
Manifest read_files_as_written(const std::vector<std::string>& files,
                               Directories directories = Directories::kFlat);

}  // namespace muster::manifest
