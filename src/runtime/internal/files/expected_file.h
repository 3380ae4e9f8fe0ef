#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "kube/objects/pod.h"

namespace muster::runtime {

/// A file that the programs of a pod make if all goes well: kube::kExpectedFileAnnotation.
struct ExpectedFile {
    std::filesystem::path path;  ///< below the directory of the pod's volumes
    std::string reason;          ///< of the event if the pod ended without it
    std::string message;
};

/// Nullopt if the pod expects none, or what it says can't be understood.
std::optional<ExpectedFile> expected_file(const kube::Pod& pod);

}  // namespace muster::runtime
