#include "kube/values/go_quote.h"

#include <fmt/format.h>

#include <iterator>

namespace muster::kube {
namespace {

constexpr std::string_view kLetters = "abfv";
constexpr std::string_view kNamed = "\a\b\f\v";

/// Whether a character of two bytes begins here that can't be printed: C1, the hard blank and the
/// soft hyphen.
bool is_hidden_latin(std::string_view text) {
    if (text.size() < 2 || text[0] != '\xc2') return false;
    const auto second = static_cast<unsigned char>(text[1]);
    return (second >= 0x80 && second <= 0xa0) || second == 0xad;
}

}  // namespace

std::string go_quoted(std::string_view text) {
    std::string quoted = "\"";
    std::size_t begin = 0;
    // fmt's escapes are Go's but for those of the characters where the text is cut here.
    const auto take_until = [&](std::size_t end) {
        const std::string piece = fmt::format("{:?}", text.substr(begin, end - begin));
        quoted.append(piece, 1, piece.size() - 2);
    };
    for (std::size_t at = 0; at < text.size(); ++at) {
        const std::size_t named = kNamed.find(text[at]);
        const bool hidden = is_hidden_latin(text.substr(at));
        if (named == kNamed.npos && !hidden) continue;
        take_until(at);
        if (hidden)
            fmt::format_to(std::back_inserter(quoted), "\\u{:04x}",
                           static_cast<unsigned>(static_cast<unsigned char>(text[++at])));
        else
            quoted += {'\\', kLetters[named]};
        begin = at + 1;
    }
    take_until(text.size());
    return quoted + '"';
}

}  // namespace muster::kube
