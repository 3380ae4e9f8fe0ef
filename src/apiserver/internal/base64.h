#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::apiserver {

/// Standard alphabet with padding.
std::string base64_encode(std::string_view bytes);
/// URL alphabet without padding, as continue tokens are written.
std::string base64url_encode(std::string_view bytes);
/// Either alphabet, padded or not; nullopt for anything else.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace muster::apiserver
