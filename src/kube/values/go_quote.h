#pragma once

#include <string>
#include <string_view>

namespace muster::kube {

/// The text in double quotes as Go's strconv.Quote and %q write it, where clients see such texts:
/// what can't be printed, and bytes that are no UTF-8, are escapes.
std::string go_quoted(std::string_view text);

}  // namespace muster::kube
