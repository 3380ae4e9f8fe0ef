#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster {

/// Whether it is well-formed: no overlong forms, no surrogates, nothing beyond U+10FFFF.
bool is_utf8(std::string_view text);

/// The text, with U+FFFD in place of each byte that belongs to no character.
std::string as_utf8(std::string_view text);

/// The longest beginning of at most `most` bytes that does not cut a character in two.
std::string_view cut_utf8(std::string_view text, std::size_t most);

}  // namespace muster
