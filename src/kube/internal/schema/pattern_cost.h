#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "kube/values/regex.h"

namespace muster::kube {

/// A comparison reads a text once. Its state machine may become too large, however; then it takes
/// as many steps for each character as the program is long, of some 40 ns each. A definition with a
/// longer one is refused.
inline constexpr std::size_t kLargestProgram = 5'000;
/// What an object may take at the worst: two seconds.
inline constexpr std::size_t kMostPatternSteps = 50'000'000;

/// What a comparison counts against kMostPatternSteps.
std::size_t pattern_steps(const Regex& regex, std::string_view text);

/// Why a definition may not have this pattern, as Kubernetes says it; "" if it may.
std::string pattern_problem(const std::string& pattern);

}  // namespace muster::kube
