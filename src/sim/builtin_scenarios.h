#pragma once

#include <span>
#include <string_view>

namespace muster::sim {

/// A file of scenarios/, as it was when the program was built.
struct BuiltinScenario {
    std::string_view name;  ///< the file's, without ".yaml"
    std::string_view text;
};

/// By name.
std::span<const BuiltinScenario> builtin_scenarios();

}  // namespace muster::sim
