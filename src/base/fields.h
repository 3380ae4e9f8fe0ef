#pragma once

#include <string_view>

namespace muster {

/// Takes what comes before `separator` off the front of `text`, and the separator with it; all of
/// it where there is none.
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
