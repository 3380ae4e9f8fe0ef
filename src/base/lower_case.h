#pragma once

#include <string>
#include <string_view>

namespace muster {

/// ASCII letters in lower case; what is compared without case here has no others.
inline std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

}  // namespace muster
