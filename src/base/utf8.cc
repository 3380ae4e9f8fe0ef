#include "base/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace muster {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

/// How many bytes at the start are ASCII. Most texts are nothing else, so it checks eight at a time.
std::size_t ascii_length(std::string_view text) {
    constexpr std::uint64_t kHighBits = 0x8080808080808080;
    std::size_t at = 0;
    for (std::uint64_t eight = 0; at + sizeof(eight) <= text.size(); at += sizeof(eight)) {
        std::memcpy(&eight, text.data() + at, sizeof(eight));
        if ((eight & kHighBits) != 0) break;
    }
    while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
    return at;
}

/// Length of the character at the start of `text`, which is not ASCII; 0 if it is malformed.
std::size_t character_length(std::string_view text) {
    const auto first = static_cast<unsigned char>(text.front());
    // The first byte says how many follow, and which second bytes would be an overlong form, a
    // surrogate, or beyond U+10FFFF.
    std::size_t more = 0;
    unsigned char low = 0x80;
    unsigned char high = 0xbf;
    if (first >= 0xc2 && first <= 0xdf) {
        more = 1;
    } else if (first >= 0xe0 && first <= 0xef) {
        more = 2;
        if (first == 0xe0) low = 0xa0;
        if (first == 0xed) high = 0x9f;
    } else if (first >= 0xf0 && first <= 0xf4) {
        more = 3;
        if (first == 0xf0) low = 0x90;
        if (first == 0xf4) high = 0x8f;
    } else {
        return 0;
    }
    if (text.size() <= more) return 0;
    for (std::size_t i = 1; i <= more; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte < low || byte > high) return 0;
        low = 0x80;
        high = 0xbf;
    }
    return more + 1;
}

}  // namespace

bool is_utf8(std::string_view text) {
    for (;;) {
        text.remove_prefix(ascii_length(text));
        if (text.empty()) return true;
        const std::size_t length = character_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
}

std::string as_utf8(std::string_view text) {
    std::string made;
    made.reserve(text.size());
    while (!text.empty()) {
        std::size_t good = ascii_length(text);
        if (good == 0) good = character_length(text);
        made += good == 0 ? kReplacement : text.substr(0, good);
        text.remove_prefix(std::max<std::size_t>(good, 1));
    }
    return made;
}

std::string_view cut_utf8(std::string_view text, std::size_t most) {
    if (text.size() <= most) return text;
    // Bytes of this form continue a character: the cut has to be before its first byte.
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
    return text.substr(0, most);
}

}  // namespace muster
