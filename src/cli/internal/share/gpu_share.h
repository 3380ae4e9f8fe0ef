#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/flags.h"

namespace muster::cli {

/// What --gpu-memory asks for.
struct GpuMemoryWish {
    enum class Kind : std::uint8_t {
        kAuto,      ///< equal shares, by the frameworks that would take all of it
        kNone,      ///< nothing is set
        kFraction,  ///< of each GPU, for each process
        kBytes,     ///< for each process; MPS holds it to that
    } kind = Kind::kAuto;
    double fraction = 0;
    std::uint64_t bytes = 0;

    friend bool operator==(const GpuMemoryWish&, const GpuMemoryWish&) = default;
};

/// "auto", "none", "0.4", "8Gi". Returns what is wrong with it.
std::optional<std::string> read_gpu_memory(const std::string& text, GpuMemoryWish& wish);

/// What the processes of a GPU have in common.
struct GpuSharing {
    GpuMemoryWish memory = {};
    int processes = 1;
    bool mps = false;
    int gpus = 0;  ///< that they see
};

struct GpuShare {
    launch::Variables variables = {};     ///< the same for each process
    std::vector<std::string> notes = {};  ///< for people: what is not as was asked for, and why
};

/// The variables that give each process its share of the GPUs. What is in `own` already, the
/// caller's environment, stays as it is. Pure.
///
/// TensorFlow and JAX take all of a GPU's memory, or three quarters of it, when they start, so the
/// second process would find none. PyTorch takes what it uses: it gets a limit if a fraction was
/// asked for.
GpuShare gpu_share(const GpuSharing& sharing, const launch::Variables& own);

}  // namespace muster::cli
