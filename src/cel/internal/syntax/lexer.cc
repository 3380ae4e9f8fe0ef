#include "cel/internal/syntax/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/utf8.h"
#include "cel/internal/characters.h"

namespace muster::cel {
namespace {

using TokenKind = Token::Kind;

bool begins_name(char c) { return is_letter(c) || c == '_'; }

class Lexer {
  public:
    explicit Lexer(std::string_view source) : source_(source) {}

    std::expected<std::vector<Token>, Issue> run() {
        std::vector<Token> tokens;
        for (;;) {
            skip_blanks();
            if (at_ == source_.size()) break;
            const std::size_t begin = at_;
            const std::expected<TokenKind, std::string> kind = take();
            if (!kind) return std::unexpected(Issue{begin, kind.error()});
            tokens.push_back({*kind, source_.substr(begin, at_ - begin), begin});
            if (*kind == TokenKind::kIdentifier && is_word(tokens.back().text))
                tokens.back().kind = TokenKind::kSymbol;
        }
        tokens.push_back({TokenKind::kEnd, {}, source_.size()});
        return tokens;
    }

  private:
    static bool is_word(std::string_view text) {
        return text == "in" || text == "true" || text == "false" || text == "null";
    }
    char next(std::size_t ahead = 0) const {
        return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
    }
    void skip_blanks() {
        for (;;) {
            const char c = next();
            if (at_ < source_.size() &&
                (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f')) {
                ++at_;
            } else if (source_.substr(at_, 2) == "//") {
                const std::size_t end = source_.find('\n', at_);
                at_ = end == source_.npos ? source_.size() : end;
            } else {
                return;
            }
        }
    }

    std::expected<TokenKind, std::string> take() {
        const char c = next();
        if (std::size_t prefix = prefix_of_string(); prefix < 3) return take_string(prefix);
        if (begins_name(c)) {
            while (begins_name(next()) || is_digit(next())) ++at_;
            return TokenKind::kIdentifier;
        }
        if (is_digit(c) || (c == '.' && is_digit(next(1)))) return take_number();
        constexpr std::array<std::string_view, 6> kPairs = {"==", "!=", "<=", ">=", "&&", "||"};
        for (std::string_view pair : kPairs) {
            if (source_.substr(at_, 2) != pair) continue;
            at_ += 2;
            return TokenKind::kSymbol;
        }
        if (std::string_view("<>[]{}().,-!?:+*/%").find(c) != std::string_view::npos) {
            ++at_;
            return TokenKind::kSymbol;
        }
        return std::unexpected(fmt::format("Syntax error: token recognition error at: '{}'",
                                           first_character(source_.substr(at_))));
    }
    static std::string first_character(std::string_view text) {
        std::size_t length = 1;
        while (length < text.size() && length < 4 && continues_character(text[length])) ++length;
        return as_utf8(text.substr(0, length));
    }

    /// How many letters (r, b, br) stand before the quotes of a string that begins here; 3: none
    /// begins here.
    std::size_t prefix_of_string() const {
        std::size_t prefix = 0;
        if (next() == 'b' || next() == 'B') ++prefix;
        if (next(prefix) == 'r' || next(prefix) == 'R') ++prefix;
        const char quote = next(prefix);
        return quote == '"' || quote == '\'' ? prefix : 3;
    }
    std::expected<TokenKind, std::string> take_string(std::size_t prefix) {
        const bool bytes = next() == 'b' || next() == 'B';
        const bool raw = prefix > 0 && (next(prefix - 1) == 'r' || next(prefix - 1) == 'R');
        const std::size_t begin = at_;
        at_ += prefix;
        const char quote = next();
        const bool triple = next(1) == quote && next(2) == quote;
        const std::string end(triple ? 3 : 1, quote);
        at_ += end.size();
        while (source_.substr(at_, end.size()) != end) {
            const bool breaks = !triple && (next() == '\n' || next() == '\r');
            if (at_ >= source_.size() || breaks)
                return std::unexpected(fmt::format("Syntax error: token recognition error at: '{}'",
                                                   as_utf8(source_.substr(begin, at_ - begin))));
            const std::size_t escape = !raw && next() == '\\' ? 2 : 1;
            at_ = std::min(at_ + escape, source_.size());
        }
        at_ += end.size();
        return bytes ? TokenKind::kBytes : TokenKind::kString;
    }

    std::expected<TokenKind, std::string> take_number() {
        if (next() == '0' && next(1) == 'x' && hex_digit(next(2)) >= 0) {
            at_ += 2;
            while (hex_digit(next()) >= 0) ++at_;
            return take_suffix();
        }
        bool floats = false;
        while (is_digit(next())) ++at_;
        if (next() == '.' && is_digit(next(1))) {
            floats = true;
            ++at_;
            while (is_digit(next())) ++at_;
        }
        if (next() == 'e' || next() == 'E') {
            const std::size_t sign = next(1) == '+' || next(1) == '-' ? 1 : 0;
            if (is_digit(next(1 + sign))) {
                floats = true;
                at_ += 1 + sign;
                while (is_digit(next())) ++at_;
            }
        }
        if (floats) return TokenKind::kDouble;
        return take_suffix();
    }
    TokenKind take_suffix() {
        if (next() != 'u' && next() != 'U') return TokenKind::kInt;
        ++at_;
        return TokenKind::kUint;
    }

    std::string_view source_;
    std::size_t at_ = 0;
};

void append_utf8(std::string& text, std::uint32_t point) {
    if (point < 0x80) {
        text += static_cast<char>(point);
    } else if (point < 0x800) {
        text += static_cast<char>(0xc0u | point >> 6);
        text += static_cast<char>(0x80u | (point & 0x3fu));
    } else if (point < 0x10000) {
        text += static_cast<char>(0xe0u | point >> 12);
        text += static_cast<char>(0x80u | (point >> 6 & 0x3fu));
        text += static_cast<char>(0x80u | (point & 0x3fu));
    } else {
        text += static_cast<char>(0xf0u | point >> 18);
        text += static_cast<char>(0x80u | (point >> 12 & 0x3fu));
        text += static_cast<char>(0x80u | (point >> 6 & 0x3fu));
        text += static_cast<char>(0x80u | (point & 0x3fu));
    }
}

/// The number of `count` digits at `at`, or nothing.
std::optional<std::uint32_t> digits_at(std::string_view text, std::size_t at, std::size_t count,
                                       std::uint32_t base) {
    if (at + count > text.size()) return std::nullopt;
    std::uint32_t number = 0;
    for (char c : text.substr(at, count)) {
        const int digit = hex_digit(c);
        if (digit < 0 || static_cast<std::uint32_t>(digit) >= base) return std::nullopt;
        number = number * base + static_cast<std::uint32_t>(digit);
    }
    return number;
}

/// The character that an escape of one letter means; '\0' if there is no such escape.
char simple_escape(char c) {
    constexpr std::string_view kLetters = "abfnrtv\"'\\?`";
    constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\"'\\?`";
    const std::size_t found = kLetters.find(c);
    return found == kLetters.npos ? '\0' : kMeanings[found];
}

/// Appends what the escape at the front means, and takes it.
bool take_escape(std::string_view& text, std::string& out, bool bytes) {
    if (text.size() < 2) return false;
    const char c = text[1];
    if (const char simple = simple_escape(c); simple != '\0') {
        out += simple;
        text.remove_prefix(2);
        return true;
    }
    std::size_t length = 0;
    std::size_t skip = 2;
    std::uint32_t base = 16;
    if (c == 'x' || c == 'X') {
        length = 2;
    } else if (c == 'u') {
        length = 4;
    } else if (c == 'U') {
        length = 8;
    } else if (c >= '0' && c <= '3') {
        length = 3;
        skip = 1;
        base = 8;
    }
    if (length == 0 || (bytes && length > 3)) return false;
    const std::optional<std::uint32_t> number = digits_at(text, skip, length, base);
    const bool surrogate = number && *number >= 0xd800 && *number < 0xe000;
    if (!number || *number > 0x10ffff || surrogate) return false;
    if (bytes)
        out += static_cast<char>(*number);
    else
        append_utf8(out, *number);
    text.remove_prefix(skip + length);
    return true;
}

}  // namespace

std::expected<std::vector<Token>, Issue> tokens_of(std::string_view source) {
    return Lexer(source).run();
}

std::expected<std::string, std::string> unquoted(std::string_view literal, bool bytes) {
    const bool raw = literal.front() == 'r' || literal.front() == 'R';
    if (raw) literal.remove_prefix(1);
    const char quote = literal.front();
    const bool triple = literal.size() >= 6 && literal[1] == quote && literal[2] == quote;
    const std::size_t quotes = triple ? 3 : 1;
    literal = literal.substr(quotes, literal.size() - 2 * quotes);
    if (raw) return std::string(literal);
    std::string text;
    while (!literal.empty()) {
        if (literal.front() != '\\') {
            text += literal.front();
            literal.remove_prefix(1);
        } else if (!take_escape(literal, text, bytes)) {
            return std::unexpected("unable to unescape string");
        }
    }
    return text;
}

}  // namespace muster::cel
