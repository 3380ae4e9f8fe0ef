#pragma once

#include <string_view>

namespace muster {

/// Removes the text before `separator` from the front of `text`, with the separator, and returns
/// it; all of `text` if it has no separator.
inline std::string_view take_field(std::string_view& text, std::string_view separator) {
    const std::size_t end = text.find(separator);
    const std::string_view taken = text.substr(0, end);
    text = end == text.npos ? std::string_view() : text.substr(end + separator.size());
    return taken;
}
inline std::string_view take_field(std::string_view& text, char separator) {
    return take_field(text, std::string_view(&separator, 1));
}

}  // namespace muster
