#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/lower_case.h"

namespace muster::jobs {

/// The nearest RFC 1035 name, or "" if there is none.
std::string dns1035_from(std::string_view text);

/// "spec.FIELD".
std::string in_spec(std::string_view field);

// --- findings

Cause required(std::string field, std::string message);
Cause invalid(std::string field, std::string message);
Cause not_supported(std::string field, std::string message);
Cause forbidden(std::string field, std::string message);
Cause duplicate(std::string field, std::string message);
Cause not_found(std::string field, std::string message);

Cause deprecated(std::string field, std::string message);
Cause ineffective(std::string field, std::string message);
Cause doubtful(std::string field, std::string message);

/// `"a", "b" or "c"`.
std::string one_of(const std::vector<std::string>& values);
/// ` (did you mean "Worker"?)`, or "" if nothing is near.
std::string did_you_mean(std::string_view unknown, const std::vector<std::string>& known);

}  // namespace muster::jobs
