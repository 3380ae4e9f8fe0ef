#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "cel/expression.h"

namespace muster::cel {

struct Token {
    enum class Kind : std::uint8_t {
        kEnd,
        kIdentifier,
        kInt,
        kUint,
        kDouble,
        kString,  ///< the text is that of the source
        kBytes,
        kSymbol,  ///< an operator or bracket, "in", "true", "false", "null"
    };
    Kind kind = Kind::kEnd;
    std::string_view text;
    std::size_t at = 0;

    bool is(std::string_view symbol) const { return kind == Kind::kSymbol && text == symbol; }
};

/// The tokens, with one of kind kEnd behind them. They refer to the source.
std::expected<std::vector<Token>, Issue> tokens_of(std::string_view source);

/// The characters of a literal's text, which begins with its quotes or with r. The reason, if an
/// escape sequence is wrong.
std::expected<std::string, std::string> unquoted(std::string_view literal, bool bytes);

}  // namespace muster::cel
