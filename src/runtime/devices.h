#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace muster::runtime {

/// Accelerators by resource name ("nvidia.com/gpu"): their numbers as their own libraries count
/// them, in bus order.
using Devices = std::map<std::string, std::vector<std::string>>;

/// The devices of the machine whose file system begins at `root`: NVIDIA's from /proc/driver/nvidia
/// and /dev/nvidia*, AMD's from the topology of /sys/class/kfd, Intel's from /sys/class/drm. Only
/// reads files; devices that can't be read are left out.
Devices find_devices(const std::filesystem::path& root);

/// Without the devices that the caller hides from its programs (CUDA_VISIBLE_DEVICES,
/// ROCR_VISIBLE_DEVICES, ZE_AFFINITY_MASK of `environment`, "KEY=value").
Devices visible_devices(Devices devices, const std::vector<std::string>& environment);

}  // namespace muster::runtime
