#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::cli {

enum class Framework : std::uint8_t {
    kPyTorch,
    kDeepSpeed,  ///< a PyTorchJob
    kTensorFlow,
    kJax,
    kMpi,
    kHorovod,  ///< an MPIJob
    kXgboost,
    kPaddle,
    kMxnet,
};

/// "pytorch"; as --framework takes it.
std::string_view name_of(Framework framework);
/// From what people write: "pytorch" or "torch", "tf" or "tensorflow".
std::optional<Framework> framework_named(std::string_view word);
/// "deepspeed, horovod, jax, ..."
std::string framework_names();

/// Which framework a program is written for.
struct FrameworkGuess {
    std::optional<Framework> framework;  ///< unset: none is imported, or several are
    std::vector<std::string> because;    ///< the modules that say so
};

/// By the modules that it imports. A library that is of one framework only (`lightning`) counts more
/// than the framework itself, which others import for a tool of it (TensorFlow for TensorBoard), and
/// that more than what works with several (`transformers`). Pure.
FrameworkGuess guess_framework(const std::vector<std::string>& modules);

}  // namespace muster::cli
