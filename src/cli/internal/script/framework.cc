#include "cli/internal/script/framework.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace muster::cli {

namespace {

struct Name {
    std::string_view word;
    Framework framework;
};
/// The first of each framework is its name.
constexpr auto kNames = std::to_array<Name>({
    {"pytorch", Framework::kPyTorch},
    {"torch", Framework::kPyTorch},
    {"deepspeed", Framework::kDeepSpeed},
    {"tf", Framework::kTensorFlow},
    {"tensorflow", Framework::kTensorFlow},
    {"jax", Framework::kJax},
    {"mpi", Framework::kMpi},
    {"horovod", Framework::kHorovod},
    {"xgboost", Framework::kXgboost},
    {"paddle", Framework::kPaddle},
    {"paddlepaddle", Framework::kPaddle},
    {"mxnet", Framework::kMxnet},
});

/// How much an import says.
enum class Weight : std::uint8_t { kDecides, kIsIt, kHints };

struct Module {
    std::string_view name;
    Framework framework;
    Weight weight;
};
/// Of those that decide, the first of this list counts: a DeepSpeed script may use mpi4py.
constexpr auto kModules = std::to_array<Module>({
    {"horovod", Framework::kHorovod, Weight::kDecides},
    {"deepspeed", Framework::kDeepSpeed, Weight::kDecides},
    {"lightning", Framework::kPyTorch, Weight::kDecides},
    {"pytorch_lightning", Framework::kPyTorch, Weight::kDecides},
    {"accelerate", Framework::kPyTorch, Weight::kDecides},
    {"mpi4py", Framework::kMpi, Weight::kDecides},
    {"flax", Framework::kJax, Weight::kDecides},
    {"torch", Framework::kPyTorch, Weight::kIsIt},
    {"tensorflow", Framework::kTensorFlow, Weight::kIsIt},
    {"keras", Framework::kTensorFlow, Weight::kIsIt},
    {"jax", Framework::kJax, Weight::kIsIt},
    {"xgboost", Framework::kXgboost, Weight::kIsIt},
    {"paddle", Framework::kPaddle, Weight::kIsIt},
    {"mxnet", Framework::kMxnet, Weight::kIsIt},
    {"transformers", Framework::kPyTorch, Weight::kHints},
    {"torchvision", Framework::kPyTorch, Weight::kHints},
    {"torchaudio", Framework::kPyTorch, Weight::kHints},
    {"timm", Framework::kPyTorch, Weight::kHints},
    {"optax", Framework::kJax, Weight::kHints},
    {"tensorflow_datasets", Framework::kTensorFlow, Weight::kHints},
});

}  // namespace

std::string_view name_of(Framework framework) {
    return std::ranges::find(kNames, framework, &Name::framework)->word;
}

std::optional<Framework> framework_named(std::string_view word) {
    const auto* const found = std::ranges::find(kNames, word, &Name::word);
    if (found == kNames.end()) return std::nullopt;
    return found->framework;
}

std::string framework_names() {
    std::vector<std::string_view> names;
    for (const Name& name : kNames)
        if (name_of(name.framework) == name.word) names.push_back(name.word);
    std::ranges::sort(names);
    return fmt::format("{}", fmt::join(names, ", "));
}

FrameworkGuess guess_framework(const std::vector<std::string>& modules) {
    for (const Weight weight : {Weight::kDecides, Weight::kIsIt, Weight::kHints}) {
        FrameworkGuess guess;
        bool several = false;
        for (const Module& module : kModules) {
            if (module.weight != weight || std::ranges::find(modules, module.name) == modules.end())
                continue;
            if (guess.framework && weight == Weight::kDecides) continue;
            several = several || (guess.framework && *guess.framework != module.framework);
            guess.framework = module.framework;
            guess.because.emplace_back(module.name);
        }
        if (several) guess.framework.reset();
        if (!guess.because.empty()) return guess;
    }
    return {};
}

}  // namespace muster::cli
