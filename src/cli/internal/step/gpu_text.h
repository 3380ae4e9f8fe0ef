#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::cli {

/// What each pod has of GPUs, as KFJ_TASK_RESOURCE_GPU says.
struct GpuRequest {
    enum class Mode {
        kNone,    ///< it must not see any
        kWhole,   ///< devices of its own
        kPart,    ///< a share of one device, by the cluster's driver
        kShared,  ///< "-1": all devices of the node, nothing is reserved
    };
    Mode mode = Mode::kNone;
    int devices = 0;   ///< as GPU_NUM tells the program
    std::string type;  ///< of the card, upper-case: "V100"; empty: any
    std::map<std::string, std::int64_t> resources;

    friend bool operator==(const GpuRequest&, const GpuRequest&) = default;
};

/// What the platform says about its GPUs.
struct GpuPlatform {
    std::string resource;  ///< "nvidia.com/gpu"; empty: by the vendor
    std::string driver;    ///< that shares a GPU: "tencent", "vgpu" or "hami"; empty: none
};

/// Reads "2", "2(V100)", "1(nvidia,T4)", "1(amd)", "0.5(T4)", "8G,0.5", "-1" and "0", also with
/// full-width brackets and commas. A part of a GPU without a driver that shares one is refused. Pure.
Result<GpuRequest> read_gpu_text(std::string_view text, const GpuPlatform& platform);

}  // namespace muster::cli
