#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace muster::control_plane {

// Changes of a kubeconfig's text that keep everything else of it: comments, order, quotes. They
// understand the usual form, lists of which each item begins with a line "- ..."; for another form
// the result may have another meaning than wanted, so its caller has to read it.

/// Replaces the item `index` of the list `key` of the top level by `item` (YAML, without the "- " and
/// indentation of a list), or appends it.
std::string with_item(std::string_view text, std::string_view key, std::optional<std::size_t> index,
                      std::string_view item);

/// With this value of a scalar of the top level. A comment after it stays.
std::string with_scalar(std::string_view text, std::string_view key, std::string_view value);

}  // namespace muster::control_plane
