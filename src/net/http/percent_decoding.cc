#include "net/http/percent_decoding.h"

namespace muster::net {

namespace {

std::optional<unsigned> hex_digit(char digit) {
    if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
    const char lower = static_cast<char>(digit | 0x20);
    if (lower >= 'a' && lower <= 'f') return static_cast<unsigned>(lower - 'a' + 10);
    return std::nullopt;
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+' && plus_is_blank) {
            plain += ' ';
        } else if (text[i] != '%') {
            plain += text[i];
        } else {
            if (text.size() - i < 3) return std::nullopt;
            const auto high = hex_digit(text[i + 1]);
            const auto low = hex_digit(text[i + 2]);
            if (!high || !low) return std::nullopt;
            plain += static_cast<char>(*high * 16 + *low);
            i += 2;
        }
    }
    return plain;
}

}  // namespace muster::net
