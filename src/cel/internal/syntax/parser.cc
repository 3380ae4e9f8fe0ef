#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/parse_number.h"
#include "base/utf8.h"
#include "cel/expression.h"
#include "cel/internal/syntax/lexer.h"
#include "cel/internal/syntax/macros.h"
#include "cel/internal/syntax/nodes.h"

namespace muster::cel {
namespace {

using TokenKind = Token::Kind;
using Parsed = std::expected<ExpressionPtr, Issue>;

constexpr std::size_t kMostCodePoints = 100'000;
constexpr int kDeepestSource = 250;
/// Of nodes: macros are deeper than what is written. Whoever walks a tree needs this much stack.
constexpr std::size_t kDeepestTree = 1000;

bool is_reserved(std::string_view name) {
    constexpr std::array<std::string_view, 17> kReserved = {
        "as",  "break", "const",   "continue",  "else",   "for", "function", "if",   "import",
        "let", "loop",  "package", "namespace", "return", "var", "void",     "while"};
    return std::ranges::find(kReserved, name) != kReserved.end();
}

/// One method for each rule of the grammar; a failed one leaves its issue behind.
class Parser {
  public:
    explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

    Parsed run() {
        Parsed whole = expression();
        if (whole && token().kind != TokenKind::kEnd) return unexpected_token();
        return whole;
    }

  private:
    const Token& token(std::size_t ahead = 0) const {
        return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
    }
    bool take(std::string_view symbol) {
        if (!token().is(symbol)) return false;
        ++at_;
        return true;
    }
    std::unexpected<Issue> unexpected_token() const {
        if (token().kind == TokenKind::kEnd)
            return std::unexpected(Issue{token().at, "Syntax error: mismatched input '<EOF>'"});
        return std::unexpected(
            Issue{token().at, fmt::format("Syntax error: extraneous input '{}'", token().text)});
    }
    Parsed made(ExpressionPtr node) const {
        if (node->depth <= kDeepestTree) return node;
        return too_deep(node->at);
    }
    static std::unexpected<Issue> too_deep(std::size_t at) {
        return std::unexpected(
            Issue{at, fmt::format("expression recursion limit exceeded: {}", kDeepestSource)});
    }

    Parsed expression() {
        if (depth_ >= kDeepestSource) return too_deep(token().at);
        ++depth_;
        Parsed parsed = conditional();
        --depth_;
        return parsed;
    }
    Parsed conditional() {
        Parsed condition = logical("||", "_||_", &Parser::conjunction);
        if (!condition || !token().is("?")) return condition;
        const std::size_t at = token().at;
        ++at_;
        Parsed yes = logical("||", "_||_", &Parser::conjunction);
        if (!yes) return yes;
        if (!take(":")) return unexpected_token();
        Parsed no = expression();
        if (!no) return no;
        return made(make_call(at, "_?_:_", *std::move(condition), *std::move(yes), *std::move(no)));
    }
    Parsed conjunction() { return logical("&&", "_&&_", &Parser::relation); }

    /// `a && b && c` as a balanced tree, as upstream: nothing has to walk a chain.
    Parsed logical(std::string_view symbol, const char* function, Parsed (Parser::*term)()) {
        std::vector<ExpressionPtr> terms;
        std::vector<std::size_t> places;
        for (;;) {
            Parsed parsed = (this->*term)();
            if (!parsed) return parsed;
            terms.push_back(*std::move(parsed));
            if (!token().is(symbol)) break;
            places.push_back(token().at);
            ++at_;
        }
        if (places.empty()) return std::move(terms.front());
        return made(balanced(function, terms, places, 0, places.size() - 1));
    }
    static ExpressionPtr balanced(const char* function, std::vector<ExpressionPtr>& terms,
                                  const std::vector<std::size_t>& places, std::size_t low,
                                  std::size_t high) {
        const std::size_t middle = (low + high + 1) / 2;
        ExpressionPtr left = middle == low ? std::move(terms[middle])
                                           : balanced(function, terms, places, low, middle - 1);
        ExpressionPtr right = middle == high ? std::move(terms[middle + 1])
                                             : balanced(function, terms, places, middle + 1, high);
        return make_call(places[middle], function, std::move(left), std::move(right));
    }

    Parsed relation() {
        constexpr std::array<std::string_view, 7> kSymbols = {"<",  "<=", ">=", ">",
                                                              "==", "!=", "in"};
        return chain(kSymbols, &Parser::sum);
    }
    Parsed sum() {
        constexpr std::array<std::string_view, 2> kSymbols = {"+", "-"};
        return chain(kSymbols, &Parser::product);
    }
    Parsed product() {
        constexpr std::array<std::string_view, 3> kSymbols = {"*", "/", "%"};
        return chain(kSymbols, &Parser::unary);
    }
    Parsed chain(std::span<const std::string_view> symbols, Parsed (Parser::*operand)()) {
        Parsed left = (this->*operand)();
        while (left && token().kind == TokenKind::kSymbol &&
               std::ranges::find(symbols, token().text) != symbols.end()) {
            const std::string function =
                token().is("in") ? "@in" : fmt::format("_{}_", token().text);
            const std::size_t at = token().at;
            ++at_;
            Parsed right = (this->*operand)();
            if (!right) return right;
            left = made(make_call(at, function, *std::move(left), *std::move(right)));
        }
        return left;
    }

    Parsed unary() {
        const std::size_t at = token().at;
        const bool negates = token().is("-");
        if (!negates && !token().is("!")) return member();
        std::size_t count = 0;
        while (token().is(negates ? "-" : "!")) {
            // The sign of a number belongs to it, so that the smallest int can be written.
            const TokenKind next = token(1).kind;
            if (negates && (next == TokenKind::kInt || next == TokenKind::kDouble)) break;
            ++at_;
            ++count;
        }
        Parsed operand = member();
        if (!operand || count % 2 == 0) return operand;
        return made(make_call(at, negates ? "-_" : "!_", *std::move(operand)));
    }

    Parsed member() {
        Parsed operand = primary();
        while (operand) {
            const std::size_t at = token().at;
            if (take(".")) {
                operand = after_dot(at, *std::move(operand));
            } else if (take("[")) {
                const bool optional = take("?");
                Parsed index = expression();
                if (!index) return index;
                if (!take("]")) return unexpected_token();
                operand = made(make_call(at, optional ? "_[?_]" : "_[_]", *std::move(operand),
                                         *std::move(index)));
            } else {
                return operand;
            }
        }
        return operand;
    }
    Parsed after_dot(std::size_t at, ExpressionPtr operand) {
        const bool optional = take("?");
        const Token name = token();
        if (name.kind != TokenKind::kIdentifier) return unexpected_token();
        ++at_;
        if (!optional && token().is("(")) {
            const std::size_t open = token().at;
            auto arguments = call_arguments();
            if (!arguments) return std::unexpected(arguments.error());
            return call(open, name.text, std::move(operand), *std::move(arguments));
        }
        const std::string field(name.text);
        if (optional)
            return made(make_call(at, "_?._", std::move(operand),
                                  make_literal(name.at, Value::text(field))));
        return made(make_node(at, Select{std::move(operand), field, false}));
    }

    std::expected<std::vector<ExpressionPtr>, Issue> call_arguments() {
        ++at_;
        std::vector<ExpressionPtr> arguments;
        if (take(")")) return arguments;
        do {
            Parsed argument = expression();
            if (!argument) return std::unexpected(argument.error());
            arguments.push_back(*std::move(argument));
        } while (take(","));
        if (!take(")")) return unexpected_token();
        return arguments;
    }
    Parsed call(std::size_t at, std::string_view function, ExpressionPtr target,
                std::vector<ExpressionPtr> arguments) {
        if (auto macro = expand_macro(at, function, target, arguments)) {
            if (!*macro) return std::unexpected(macro->error());
            return made(**std::move(macro));
        }
        return made(
            make_node(at, Call{std::string(function), std::move(target), std::move(arguments)}));
    }

    Parsed primary() {
        const Token first = token();
        if (first.is("(")) {
            ++at_;
            Parsed inner = expression();
            if (inner && !take(")")) return unexpected_token();
            return inner;
        }
        if (first.is("[")) return make_list();
        if (first.is("{")) return make_map();
        if (first.kind == TokenKind::kIdentifier || first.is(".")) return identifier();
        return literal();
    }

    Parsed identifier() {
        const std::size_t at = token().at;
        const bool dotted = take(".");
        if (token().kind != TokenKind::kIdentifier) return unexpected_token();
        if (const std::optional<std::string> type = object_type()) {
            const std::size_t open = token().at;
            if (auto skipped = skip_fields(); !skipped) return std::unexpected(skipped.error());
            return make_node(open, MakeObject{*type});
        }
        const std::string_view name = token().text;
        if (is_reserved(name))
            return std::unexpected(Issue{token().at, fmt::format("reserved identifier: {}", name)});
        ++at_;
        if (!token().is("(")) return make_identifier(dotted ? at + 1 : at, std::string(name));
        const std::size_t open = token().at;
        auto arguments = call_arguments();
        if (!arguments) return std::unexpected(arguments.error());
        return call(open, name, nullptr, *std::move(arguments));
    }
    /// The name of an object that begins here; takes it.
    std::optional<std::string> object_type() {
        std::size_t length = 1;
        while (token(length).is(".") && token(length + 1).kind == TokenKind::kIdentifier)
            length += 2;
        if (!token(length).is("{")) return std::nullopt;
        std::string name;
        for (std::size_t i = 0; i < length; ++i) name += token(i).text;
        at_ += length;
        return name;
    }
    std::expected<void, Issue> skip_fields() {
        ++at_;
        while (!take("}")) {
            take("?");
            if (token().kind != TokenKind::kIdentifier) return unexpected_token();
            ++at_;
            if (!take(":")) return unexpected_token();
            Parsed value = expression();
            if (!value) return std::unexpected(value.error());
            if (!take(",") && !token().is("}")) return unexpected_token();
        }
        return {};
    }

    Parsed make_list() {
        const std::size_t at = token().at;
        ++at_;
        MakeList list;
        while (!take("]")) {
            list.optional.push_back(take("?"));
            Parsed element = expression();
            if (!element) return element;
            list.elements.push_back(*std::move(element));
            if (!take(",") && !token().is("]")) return unexpected_token();
        }
        return made(make_node(at, std::move(list)));
    }
    Parsed make_map() {
        const std::size_t at = token().at;
        ++at_;
        MakeMap map;
        while (!take("}")) {
            MakeMap::Entry entry;
            entry.optional = take("?");
            Parsed key = expression();
            if (!key) return key;
            if (!take(":")) return unexpected_token();
            Parsed value = expression();
            if (!value) return value;
            entry.key = *std::move(key);
            entry.value = *std::move(value);
            map.entries.push_back(std::move(entry));
            if (!take(",") && !token().is("}")) return unexpected_token();
        }
        return made(make_node(at, std::move(map)));
    }

    Parsed literal() {
        const std::size_t at = token().at;
        const bool negative = take("-");
        const Token value = token();
        if (negative && value.kind != TokenKind::kInt && value.kind != TokenKind::kDouble)
            return unexpected_token();
        ++at_;
        switch (value.kind) {
            case TokenKind::kInt:
                return int_literal(at, value.text, negative);
            case TokenKind::kUint:
                return uint_literal(at, value.text);
            case TokenKind::kDouble:
                return double_literal(at, value.text, negative);
            case TokenKind::kString:
            case TokenKind::kBytes:
                return text_literal(at, value);
            default:
                if (value.is("true") || value.is("false"))
                    return make_literal(at, value.is("true"));
                if (value.is("null")) return make_literal(at, Value());
                --at_;
                return unexpected_token();
        }
    }
    static Parsed int_literal(std::size_t at, std::string_view text, bool negative) {
        const bool hex = text.starts_with("0x");
        const std::string digits = (negative ? "-" : "") + std::string(hex ? text.substr(2) : text);
        if (const auto number = parse_number<std::int64_t>(digits, hex ? 16 : 10))
            return make_literal(at, *number);
        return std::unexpected(Issue{at, "invalid int literal"});
    }
    static Parsed uint_literal(std::size_t at, std::string_view text) {
        text.remove_suffix(1);
        const bool hex = text.starts_with("0x");
        if (const auto number =
                parse_number<std::uint64_t>(hex ? text.substr(2) : text, hex ? 16 : 10))
            return make_literal(at, *number);
        return std::unexpected(Issue{at, "invalid uint literal"});
    }
    static Parsed double_literal(std::size_t at, std::string_view text, bool negative) {
        const auto number = parse_number<double>(text.starts_with('.') ? "0" + std::string(text)
                                                                       : std::string(text));
        if (!number || std::isinf(*number))
            return std::unexpected(Issue{at, "invalid double literal"});
        return make_literal(at, negative ? -*number : *number);
    }
    static Parsed text_literal(std::size_t at, const Token& token) {
        const bool bytes = token.kind == TokenKind::kBytes;
        auto text = unquoted(bytes ? token.text.substr(1) : token.text, bytes);
        if (!text) return std::unexpected(Issue{at, std::move(text).error()});
        if (bytes) return make_literal(at, Bytes{Text(*std::move(text))});
        return make_literal(at, Value::text(*std::move(text)));
    }

    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    int depth_ = 0;
};

}  // namespace

std::expected<ExpressionPtr, std::vector<Issue>> parse(std::string_view source) {
    if (!is_utf8(source))
        return std::unexpected(std::vector{Issue{0, "the expression is not UTF-8"}});
    if (code_points(source) > kMostCodePoints)
        return std::unexpected(std::vector{
            Issue{0, fmt::format("expression code point size exceeds limit: size: {}, limit {}",
                                 code_points(source), kMostCodePoints)}});
    auto tokens = tokens_of(source);
    if (!tokens) return std::unexpected(std::vector{tokens.error()});
    Parsed parsed = Parser(*std::move(tokens)).run();
    if (!parsed) return std::unexpected(std::vector{parsed.error()});
    return *std::move(parsed);
}

}  // namespace muster::cel
