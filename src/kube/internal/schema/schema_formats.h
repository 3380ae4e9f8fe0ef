#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "kube/values/json.h"

namespace muster::kube {

/// A date-time with exactly six digits after the seconds; OpenAPI calls it date-time.
inline constexpr std::string_view kMicroTimeFormat = "kubernetes-micro-time";

/// What is wrong with a value of that format ("must be of type date-time: ..."), or "". Formats
/// that we do not know accept everything, as Kubernetes' do.
std::string format_problem(std::string_view format, const json::value& value);

enum class PatternMatch { kMatches, kDiffers, kTooComplex };
/// Whether some part of the text matches. A pattern that can't be compiled does not. The cost of a
/// comparison is at most proportional to the text; it is kTooComplex if that was not enough.
PatternMatch match_pattern(const std::string& pattern, std::string_view text);
/// Why a pattern can't be used, or "". Constructs that RE2 does not have are refused.
std::string pattern_problem(const std::string& pattern);

/// The pattern of CRDs made by Go tools for a resource quantity.
extern const std::string_view kQuantityPattern;

}  // namespace muster::kube
