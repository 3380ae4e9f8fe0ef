#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "control_plane/daemon/caller.h"
#include "kube/values/json.h"

namespace muster::cli {

/// The Python that the programs of the objects are started with: the first that one of their commands
/// names by its path, else the first of the caller's PATH. Empty: none is found.
std::filesystem::path python_of(const std::vector<json::value>& objects,
                                const control_plane::Caller& caller);

/// What is installed for it, "NAME VERSION" a line, sorted: what the directories beside it and the
/// user's own have. It is not started, so what a sitecustomize or PYTHONPATH would add is not seen.
std::string installed_packages(const std::filesystem::path& python,
                               const control_plane::Caller& caller);

/// "numpy 1.26.4" of "numpy-1.26.4.dist-info"; empty for any other name. Pure.
std::string package_of_entry(const std::string& name);

}  // namespace muster::cli
