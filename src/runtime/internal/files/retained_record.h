#pragma once

#include <filesystem>

#include "base/result.h"
#include "kube/objects/pod.h"

namespace muster::runtime {

/// What tells of a pod, in the directory of its logs.
inline constexpr const char* kPodRecord = "pod.json";

/// Where the logs of a pod are below `logs_dir`.
std::filesystem::path log_directory_of(const std::filesystem::path& logs_dir, const kube::Pod& pod);

/// Makes that directory, for this user alone, and the record in it. No content of the pod but names
/// and labels is written: what it was told (variables, arguments) may be secret.
Result<void> retain_logs_of(const std::filesystem::path& logs_dir, const kube::Pod& pod);

}  // namespace muster::runtime
