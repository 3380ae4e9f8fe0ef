#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::runtime {

/// RFC 4648 with padding, as Secrets carry their data; nullopt for anything else.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace muster::runtime
