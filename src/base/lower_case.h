#pragma once

#include <string>
#include <string_view>

namespace muster {

/// The text with ASCII letters in lower case. Texts that we compare without case have no other
/// letters.
inline std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

}  // namespace muster
