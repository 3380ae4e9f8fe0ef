#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/internal/prepare/prepare.h"
#include "kube/values/json.h"
#include "manifest/problem.h"

namespace muster::cli {

/// Everything that a check has found, for other programs. Pure.
json::object report_of(const Prepared& prepared, const std::vector<manifest::Problem>& problems);

/// The problems as SARIF 2.1.0, which code reviews show at their lines. Pure.
json::object sarif_of(const std::vector<manifest::Problem>& problems, std::string_view version);

/// A path as a URI: relative as it is, else file:///...; what URIs do not have is percent-encoded.
std::string uri_of(std::string_view path);

}  // namespace muster::cli
