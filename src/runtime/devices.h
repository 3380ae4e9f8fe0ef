#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace muster::runtime {

/// Accelerators by the resource that stands for them ("nvidia.com/gpu"): the number of each as its
/// own libraries count them, in the order of the bus.
using Devices = std::map<std::string, std::vector<std::string>>;

/// Those of the machine whose file system begins at `root`: NVIDIA's by /proc/driver/nvidia and
/// /dev/nvidia*, AMD's by the topology of /sys/class/kfd, Intel's by /sys/class/drm. Reads files
/// only; what can't be read is not there.
Devices find_devices(const std::filesystem::path& root);

/// Without what the caller hides from its programs (CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES,
/// ZE_AFFINITY_MASK of `environment`, "KEY=value").
Devices visible_devices(Devices devices, const std::vector<std::string>& environment);

}  // namespace muster::runtime
