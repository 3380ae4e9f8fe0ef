#include "kube/values/base64.h"

#include <cstdint>

namespace muster::kube {

namespace {

constexpr std::string_view kStandard =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Only the digits.
std::string digits_of(std::string_view bytes, std::string_view alphabet) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    std::uint32_t bits = 0;
    int count = 0;
    for (const char byte : bytes) {
        bits = bits << 8 | static_cast<unsigned char>(byte);
        for (count += 8; count >= 6; count -= 6) text += alphabet[bits >> (count - 6) & 63];
    }
    if (count > 0) text += alphabet[bits << (6 - count) & 63];
    return text;
}

/// Digits without padding; the caller has checked how many a last group may have.
std::optional<std::string> bytes_of(std::string_view digits, std::string_view alphabet) {
    std::string bytes;
    bytes.reserve(digits.size() * 3 / 4);
    std::uint32_t bits = 0;
    int count = 0;
    for (const char digit : digits) {
        const std::size_t value = alphabet.find(digit);
        if (value == std::string_view::npos) return std::nullopt;
        bits = bits << 6 | static_cast<std::uint32_t>(value);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> count & 255);
    }
    return bytes;
}

}  // namespace

std::string base64_encode(std::string_view bytes) {
    std::string text = digits_of(bytes, kStandard);
    while (text.size() % 4 != 0) text += '=';
    return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
    std::string clean;
    clean.reserve(text.size());
    for (const char c : text)
        if (c != '\n' && c != '\r') clean += c;
    if (clean.size() % 4 != 0) return std::nullopt;
    for (int padding = 0; padding < 2 && clean.ends_with('='); ++padding) clean.pop_back();
    return bytes_of(clean, kStandard);
}

std::string base64url_encode(std::string_view bytes) { return digits_of(bytes, kUrl); }

std::optional<std::string> base64url_decode(std::string_view text) {
    if (text.size() % 4 == 1) return std::nullopt;
    return bytes_of(text, kUrl);
}

}  // namespace muster::kube
