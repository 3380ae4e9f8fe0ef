#include "runtime/internal/base64.h"

#include <cstdint>

namespace muster::runtime {

namespace {

int value_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+') return 62;
    if (c == '/') return 63;
    return -1;
}

}  // namespace

std::optional<std::string> decode_base64(std::string_view text) {
    std::string clean;  // line breaks are allowed anywhere
    for (char c : text)
        if (c != '\n' && c != '\r') clean += c;
    if (clean.size() % 4 != 0) return std::nullopt;
    std::size_t padding = 0;
    while (padding < 2 && padding < clean.size() && clean[clean.size() - 1 - padding] == '=')
        ++padding;
    std::string out;
    std::uint32_t bits = 0;
    int count = 0;
    for (std::size_t i = 0; i + padding < clean.size(); ++i) {
        const int value = value_of(clean[i]);
        if (value < 0) return std::nullopt;
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        count += 6;
        if (count >= 8) {
            count -= 8;
            out += static_cast<char>(bits >> count & 0xff);
        }
    }
    return out;
}

}  // namespace muster::runtime
