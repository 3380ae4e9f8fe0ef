#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace muster::kube {

/// Replaces `$(VAR)` by what `lookup` knows, and `$$` by `$`; an unknown or unterminated reference
/// stays as it is (upstream: k8s third_party/forked/golang/expansion). Nothing if that would be
/// longer than `most` bytes: what is short may refer to what is long, many times.
std::optional<std::string> expand_variables(
    std::string_view text, const std::function<const std::string*(std::string_view)>& lookup,
    std::size_t most);

}  // namespace muster::kube
