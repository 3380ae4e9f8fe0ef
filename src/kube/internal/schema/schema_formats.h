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

/// The pattern of CRDs made by Go tools for a resource quantity.
extern const std::string_view kQuantityPattern;

}  // namespace muster::kube
