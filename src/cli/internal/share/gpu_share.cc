#include "cli/internal/share/gpu_share.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/parse_number.h"
#include "kube/values/quantity.h"

namespace muster::cli {

namespace {

/// What is left of a GPU's memory for the contexts of CUDA, which no framework counts.
constexpr double kForPools = 0.9;

/// Either name of a variable that has two.
struct TwoNames {
    std::string_view first;
    std::string_view second;
};
/// JAX refuses to start with both; the older name is known to every version.
constexpr TwoNames kJax{"XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_CLIENT_MEM_FRACTION"};
/// The newer name: a PyTorch that does not know it ignores it, while one that knows only the older
/// name would refuse a setting that came later (2.10).
constexpr TwoNames kTorch{"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"};

class Shares {
  public:
    explicit Shares(const launch::Variables& own) : own_(own) {}

    bool has(std::string_view name) const { return launch::find_variable(own_, name) != nullptr; }
    void give(std::string_view name, std::string value) {
        if (!has(name)) made_.variables.emplace_back(name, std::move(value));
    }
    /// `what`: whose share it is.
    void give(TwoNames names, std::string value, std::string_view what) {
        for (const std::string_view name : {names.first, names.second})
            if (has(name)) {
                note(fmt::format("{} is set already: {} keeps to that", name, what));
                return;
            }
        give(names.first, std::move(value));
    }
    void note(std::string text) { made_.notes.push_back(std::move(text)); }
    GpuShare take() { return std::move(made_); }

  private:
    const launch::Variables& own_;
    GpuShare made_;
};

/// Three digits, rounded down, so that the sum is not above the whole.
std::string digits(double fraction) {
    constexpr double kBelowADigit = 1e-9;  // 0.29 * 1000 is less than 290
    return fmt::format("{}", std::floor(fraction * 1000 + kBelowADigit) / 1000);
}

void share_by_frameworks(double fraction, bool limit_torch, Shares& shares) {
    shares.give("TF_FORCE_GPU_ALLOW_GROWTH", "true");
    shares.give(kJax, digits(fraction), "JAX");
    if (limit_torch)
        shares.give(kTorch, "per_process_memory_fraction:" + digits(fraction), "PyTorch");
}

void share_by_mps(const GpuSharing& sharing, Shares& shares) {
    // Twice its part: with exactly that, each would leave processors idle while another one is busy
    // elsewhere.
    if (sharing.processes > 2)
        shares.give("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
                    fmt::format("{}", std::max(1, 200 / sharing.processes)));
    if (sharing.memory.kind != GpuMemoryWish::Kind::kBytes) return;
    std::string limits;
    for (int gpu = 0; gpu < std::max(sharing.gpus, 1); ++gpu)
        limits += fmt::format("{}{}={}M", limits.empty() ? "" : ",", gpu,
                              sharing.memory.bytes / (std::uint64_t{1} << 20));
    shares.give("CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", limits);
}

}  // namespace

std::optional<std::string> read_gpu_memory(const std::string& text, GpuMemoryWish& wish) {
    using enum GpuMemoryWish::Kind;
    if (text.empty() || text == "auto" || text == "none") {
        wish = {.kind = text == "none" ? kNone : kAuto};
        return std::nullopt;
    }
    constexpr std::uint64_t kLeast = std::uint64_t{1} << 20;
    if (text.find_first_not_of("0123456789.") == text.npos) {
        const auto fraction = parse_number<double>(text);
        if (fraction && *fraction >= 0.001 && *fraction <= 1) {
            wish = {.kind = kFraction, .fraction = *fraction};
            return std::nullopt;
        }
    } else if (const auto size = kube::Quantity::parse(text);
               size && size->ceil_units() >= static_cast<std::int64_t>(kLeast)) {
        wish = {.kind = kBytes, .bytes = static_cast<std::uint64_t>(size->ceil_units())};
        return std::nullopt;
    }
    return fmt::format(
        "--gpu-memory wants auto, none, a fraction of each GPU from 0.001 to 1, or a size such as "
        "8Gi, not \"{}\"",
        text);
}

GpuShare gpu_share(const GpuSharing& sharing, const launch::Variables& own) {
    using enum GpuMemoryWish::Kind;
    Shares shares(own);
    switch (sharing.memory.kind) {
        case kAuto:
            if (sharing.processes > 1)
                share_by_frameworks(kForPools / sharing.processes, false, shares);
            break;
        case kFraction:
            share_by_frameworks(sharing.memory.fraction, true, shares);
            if (sharing.memory.fraction * sharing.processes > 1)
                shares.note(
                    fmt::format("{} processes with {} of a GPU's memory each: that is more "
                                "than one GPU has",
                                sharing.processes, digits(sharing.memory.fraction)));
            break;
        case kBytes:
            // How much that is of a GPU is not known here; MPS refuses what is above it.
            shares.give("TF_FORCE_GPU_ALLOW_GROWTH", "true");
            if (!shares.has(kJax.first) && !shares.has(kJax.second))
                shares.give("XLA_PYTHON_CLIENT_PREALLOCATE", "false");
            break;
        case kNone:
            break;
    }
    if (sharing.mps) share_by_mps(sharing, shares);
    return shares.take();
}

}  // namespace muster::cli
