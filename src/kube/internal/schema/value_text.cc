#include "kube/internal/schema/value_text.h"

#include <fmt/format.h>

#include <array>
#include <boost/json/serializer.hpp>

namespace muster::kube {

std::string value_text(const json::value& value) {
    constexpr std::size_t kLongest = 200;
    // Not as JSON: 1.5 would be 1.5E0.
    if (value.is_double()) return fmt::format("{}", value.get_double());
    json::serializer serializer;
    serializer.reset(&value);
    std::array<char, kLongest + 1> begin;
    std::string text(serializer.read(begin.data(), begin.size()));
    if (text.size() <= kLongest) return text;
    std::size_t end = kLongest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text.resize(end);
    return text + "...";
}

std::size_t code_points(std::string_view text) {
    std::size_t count = 0;
    for (char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    return count;
}

}  // namespace muster::kube
