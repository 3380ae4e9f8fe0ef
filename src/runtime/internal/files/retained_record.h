#pragma once

#include <filesystem>

#include "base/result.h"
#include "kube/objects/pod.h"

namespace muster::runtime {

/// The file that describes a pod in the directory of its logs.
inline constexpr const char* kPodRecord = "pod.json";

/// The directory of a pod's logs below `logs_dir`.
std::filesystem::path log_directory_of(const std::filesystem::path& logs_dir, const kube::Pod& pod);

/// Makes that directory, for this user only, and the record in it. Only names and labels of the pod
/// are written: variables and arguments may be secret.
Result<void> retain_logs_of(const std::filesystem::path& logs_dir, const kube::Pod& pod);

}  // namespace muster::runtime
