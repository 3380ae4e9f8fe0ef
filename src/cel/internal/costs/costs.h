#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

namespace muster::cel {

// The figures of cel-go v0.23.2, common/cost.go.
constexpr std::uint64_t kAccessCost = 1;  ///< of a variable, a field, an element
constexpr std::uint64_t kListCost = 10;
constexpr std::uint64_t kMapCost = 30;
constexpr double kTraversalFactor = 0.1;  ///< of each character of a text
constexpr double kRegexFactor = 0.25;     ///< of each character of a pattern

// The figures of k8s.io/apiserver v0.33, pkg/cel/library/cost.go.
/// Of a check of rights: so that an expression has two at most.
constexpr std::uint64_t kAuthorizationCost = 350'000;
constexpr double kRequirementsOfSelector = 0.5;  ///< for each character of a selector
constexpr double kRequirementCost = 50;          ///< of each requirement of a selector

/// Signatures that go through both texts until they differ.
constexpr std::array<std::string_view, 10> kTextComparisons = {
    "less_string", "less_equals_string", "greater_string", "greater_equals_string",
    "less_bytes",  "less_equals_bytes",  "greater_bytes",  "greater_equals_bytes",
    "equals",      "not_equals"};

/// Functions of the libraries that go through all that a list, or a text, holds.
constexpr std::array<std::string_view, 6> kWholeTraversals = {"isSorted", "sum",     "max",
                                                              "min",      "indexOf", "lastIndexOf"};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
    return std::ranges::find(names, name) != names.end();
}

/// Rounded up; the largest number where it does not fit.
inline std::uint64_t scaled(std::uint64_t size, double factor) {
    const double product = std::ceil(static_cast<double>(size) * factor);
    if (product >= 18446744073709551616.0) return std::numeric_limits<std::uint64_t>::max();
    return static_cast<std::uint64_t>(product);
}

}  // namespace muster::cel
