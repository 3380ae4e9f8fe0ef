#pragma once

#include <string>
#include <string_view>

namespace muster {

// ASCII letters only: texts that we compare without case have no others.

inline char lower_case(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
inline std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) c = lower_case(c);
    return lower;
}
inline bool equal_without_case(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (lower_case(a[i]) != lower_case(b[i])) return false;
    return true;
}

}  // namespace muster
