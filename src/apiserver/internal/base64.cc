#include "apiserver/internal/base64.h"

#include <array>
#include <cstdint>

namespace muster::apiserver {

namespace {

constexpr std::string_view kStandard =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encode(std::string_view bytes, std::string_view alphabet, bool padded) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
        for (std::size_t j = 0; j < 3; ++j)
            group = (group << 8) | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0u);
        for (std::size_t j = 0; j < 4; ++j) {
            if (j <= count)
                text += alphabet[(group >> (18 - 6 * j)) & 63];
            else if (padded)
                text += '=';
        }
    }
    return text;
}

int digit(char c) {
    if (const std::size_t at = kStandard.find(c); at != std::string_view::npos)
        return static_cast<int>(at);
    if (const std::size_t at = kUrl.find(c); at != std::string_view::npos)
        return static_cast<int>(at);
    return -1;
}

}  // namespace

std::string base64_encode(std::string_view bytes) { return encode(bytes, kStandard, true); }
std::string base64url_encode(std::string_view bytes) { return encode(bytes, kUrl, false); }

std::optional<std::string> base64_decode(std::string_view text) {
    std::size_t padding = 0;
    while (!text.empty() && text.back() == '=') {
        text.remove_suffix(1);
        ++padding;
    }
    if (padding > 2 || text.size() % 4 == 1) return std::nullopt;
    if (padding > 0 && (text.size() + padding) % 4 != 0) return std::nullopt;
    std::string bytes;
    std::uint32_t group = 0;
    int bits = 0;
    for (char c : text) {
        const int value = digit(c);
        if (value < 0) return std::nullopt;
        group = (group << 6) | static_cast<std::uint32_t>(value);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes += static_cast<char>((group >> bits) & 255);
    }
    return bytes;
}

}  // namespace muster::apiserver
