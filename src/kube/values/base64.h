#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::kube {

/// RFC 4648 with the standard alphabet and padding, as in the data of Secrets.
std::string base64_encode(std::string_view bytes);
/// Line breaks are allowed anywhere, as in Go's decoder; nullopt for anything else that does not
/// have exactly that form.
std::optional<std::string> base64_decode(std::string_view text);

/// The URL alphabet without padding, as in continue tokens.
std::string base64url_encode(std::string_view bytes);
std::optional<std::string> base64url_decode(std::string_view text);

}  // namespace muster::kube
