#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

#include "base/parse_number.h"
#include "kube/objects/selector.h"
#include "kube/values/name_syntax.h"

namespace muster::kube {
namespace {

/// Every object of a list is compared with each of them.
constexpr std::size_t kMostLabelRequirements = 100;

enum class Token {
    kEnd,
    kIdentifier,
    kComma,
    kOpen,
    kClose,
    kNot,
    kEquals,
    kNotEquals,
    kGreater,
    kLess,
    kIn,
    kNotIn,
};

struct Lexeme {
    Token token;
    std::string_view text;
};

/// Where "in" and "notin" are keywords, and where they are ordinary names.
enum class Context { kOperator, kValue };

constexpr std::array kSymbols{
    // Longer ones first.
    Lexeme{Token::kEquals, "=="}, Lexeme{Token::kNotEquals, "!="}, Lexeme{Token::kEquals, "="},
    Lexeme{Token::kNot, "!"},     Lexeme{Token::kComma, ","},      Lexeme{Token::kOpen, "("},
    Lexeme{Token::kClose, ")"},   Lexeme{Token::kGreater, ">"},    Lexeme{Token::kLess, "<"},
};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool is_symbol(char c) { return std::string_view("=!(),><").find(c) != std::string_view::npos; }

class Lexer {
  public:
    explicit Lexer(std::string_view text) : text_(text) {}

    Lexeme peek(Context context) const {
        Lexer copy = *this;
        return copy.next(context);
    }
    Lexeme next(Context context) {
        while (!text_.empty() && is_blank(text_.front())) text_.remove_prefix(1);
        if (text_.empty()) return {Token::kEnd, {}};
        for (const Lexeme& symbol : kSymbols) {
            if (!text_.starts_with(symbol.text)) continue;
            text_.remove_prefix(symbol.text.size());
            return symbol;
        }
        std::size_t size = 0;
        while (size < text_.size() && !is_blank(text_[size]) && !is_symbol(text_[size])) ++size;
        const std::string_view word = text_.substr(0, size);
        text_.remove_prefix(size);
        if (context == Context::kOperator && word == "in") return {Token::kIn, word};
        if (context == Context::kOperator && word == "notin") return {Token::kNotIn, word};
        return {Token::kIdentifier, word};
    }

  private:
    std::string_view text_;
};

Error found(const Lexeme& lexeme, std::string_view expected) {
    return Error(Code::kBadRequest, fmt::format("found '{}', expected: {}", lexeme.text, expected));
}

std::optional<std::int64_t> to_integer(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    return parse_number<std::int64_t>(text);
}

}  // namespace

class LabelSelectorParser {
  public:
    explicit LabelSelectorParser(std::string_view text) : lexer_(text) {}

    Result<LabelSelector> parse() {
        LabelSelector selector;
        if (lexer_.peek(Context::kValue).token == Token::kEnd) return selector;
        while (true) {
            if (const Lexeme first = lexer_.peek(Context::kValue); !starts_requirement(first))
                return found(first, selector.empty() ? "!, identifier, or 'end of string'"
                                                     : "identifier after ','");
            Result<Requirement> requirement = parse_requirement();
            if (!requirement)
                return std::move(requirement.error().prefix("unable to parse requirement"));
            selector.requirements_.push_back(*std::move(requirement));
            if (selector.requirements_.size() > kMostLabelRequirements)
                return Error(Code::kBadRequest,
                             fmt::format("a selector has at most {} requirements; several values "
                                         "of one label go into one: a in (x,y)",
                                         kMostLabelRequirements));
            const Lexeme lexeme = lexer_.next(Context::kValue);
            if (lexeme.token == Token::kEnd) break;
            if (lexeme.token != Token::kComma) return found(lexeme, "',' or 'end of string'");
        }
        std::sort(selector.requirements_.begin(), selector.requirements_.end(),
                  [](const Requirement& a, const Requirement& b) {
                      return std::tie(a.key, a.op, a.values) < std::tie(b.key, b.op, b.values);
                  });
        return selector;
    }

  private:
    using Requirement = LabelSelector::Requirement;
    using Op = LabelSelector::Op;

    static bool starts_requirement(const Lexeme& lexeme) {
        return lexeme.token == Token::kIdentifier || lexeme.token == Token::kNot;
    }

    Result<Requirement> parse_requirement() {
        Lexeme lexeme = lexer_.next(Context::kValue);
        const bool negated = lexeme.token == Token::kNot;
        if (negated) lexeme = lexer_.next(Context::kValue);
        if (lexeme.token != Token::kIdentifier) return found(lexeme, "identifier");
        if (std::string problem = label_key_problem(lexeme.text); !problem.empty())
            return Error(Code::kBadRequest,
                         fmt::format("key: Invalid value: \"{}\": {}", lexeme.text, problem));
        Requirement requirement{std::string(lexeme.text), Op::kNotExists, {}};
        if (negated) return requirement;
        const Token after = lexer_.peek(Context::kValue).token;
        if (after == Token::kEnd || after == Token::kComma) {
            requirement.op = Op::kExists;
            return requirement;
        }
        TRY(requirement.op, parse_operator());
        TRY(requirement.values, requirement.op == Op::kIn || requirement.op == Op::kNotIn
                                    ? parse_set()
                                    : parse_exact());
        TRY_VOID(check_values(requirement));
        return requirement;
    }

    Result<Op> parse_operator() {
        const Lexeme lexeme = lexer_.next(Context::kOperator);
        switch (lexeme.token) {
            case Token::kIn:
                return Op::kIn;
            case Token::kNotIn:
                return Op::kNotIn;
            case Token::kEquals:
                return Op::kEquals;
            case Token::kNotEquals:
                return Op::kNotEquals;
            case Token::kGreater:
                return Op::kGreater;
            case Token::kLess:
                return Op::kLess;
            default:
                return found(lexeme, "in, notin, =, ==, !=, gt, lt");
        }
    }

    /// `(a,b)`. Nothing between commas stands for "".
    Result<std::vector<std::string>> parse_set() {
        if (const Lexeme open = lexer_.next(Context::kValue); open.token != Token::kOpen)
            return found(open, "'('");
        std::vector<std::string> values;
        while (true) {
            Lexeme lexeme = lexer_.next(Context::kValue);
            values.emplace_back();
            if (lexeme.token == Token::kIdentifier) {
                values.back() = lexeme.text;
                lexeme = lexer_.next(Context::kValue);
            }
            if (lexeme.token == Token::kClose) break;
            if (lexeme.token != Token::kComma)
                return found(lexeme,
                             values.back().empty() ? "',', ')' or identifier" : "',' or ')'");
        }
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        return values;
    }

    Result<std::vector<std::string>> parse_exact() {
        const Lexeme lexeme = lexer_.peek(Context::kValue);
        std::vector<std::string> values{std::string(lexeme.text)};
        if (lexeme.token == Token::kEnd || lexeme.token == Token::kComma) {
            values.front().clear();
            return values;
        }
        if (lexeme.token != Token::kIdentifier) return found(lexeme, "identifier");
        lexer_.next(Context::kValue);
        return values;
    }

    static Result<void> check_values(const Requirement& requirement) {
        for (std::size_t i = 0; i < requirement.values.size(); ++i) {
            const std::string& value = requirement.values[i];
            std::string problem = label_value_problem(value);
            const bool compares = requirement.op == Op::kGreater || requirement.op == Op::kLess;
            if (compares && !to_integer(value))
                problem = "for 'Gt', 'Lt' operators, the value must be an integer";
            if (!problem.empty())
                return Error(Code::kBadRequest,
                             fmt::format("values[{}][{}]: Invalid value: \"{}\": {}", i,
                                         requirement.key, value, problem));
        }
        return {};
    }

    Lexer lexer_;
};

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
    return LabelSelectorParser(text).parse();
}

LabelSelector LabelSelector::from_map(const std::map<std::string, std::string>& pairs) {
    LabelSelector selector;
    for (const auto& [key, value] : pairs)
        selector.requirements_.push_back({key, Op::kEquals, {value}});
    return selector;
}

bool LabelSelector::Requirement::matches(const std::string_view* label) const {
    auto listed = [&] { return std::binary_search(values.begin(), values.end(), *label); };
    switch (op) {
        case Op::kExists:
            return label != nullptr;
        case Op::kNotExists:
            return label == nullptr;
        case Op::kEquals:
        case Op::kIn:
            return label != nullptr && listed();
        case Op::kNotEquals:
        case Op::kNotIn:
            return label == nullptr || !listed();
        case Op::kGreater:
        case Op::kLess:
            break;
    }
    if (label == nullptr) return false;
    const std::optional<std::int64_t> have = to_integer(*label);
    const std::optional<std::int64_t> limit = to_integer(values.front());
    if (!have || !limit) return false;
    return op == Op::kGreater ? *have > *limit : *have < *limit;
}

bool LabelSelector::matches(const std::map<std::string, std::string>& labels) const {
    return std::all_of(requirements_.begin(), requirements_.end(), [&](const Requirement& r) {
        auto it = labels.find(r.key);
        if (it == labels.end()) return r.matches(nullptr);
        const std::string_view value = it->second;
        return r.matches(&value);
    });
}

bool LabelSelector::matches(const Lookup& lookup) const {
    return std::all_of(requirements_.begin(), requirements_.end(),
                       [&](const Requirement& r) { return r.matches(lookup(r.key)); });
}

bool LabelSelector::names(std::string_view key) const {
    const auto found = std::ranges::lower_bound(requirements_, key, {}, &Requirement::key);
    return found != requirements_.end() && found->key == key;
}

std::string LabelSelector::to_string() const {
    auto text = [](const Requirement& r) {
        switch (r.op) {
            case Op::kExists:
                return r.key;
            case Op::kNotExists:
                return "!" + r.key;
            case Op::kEquals:
                return fmt::format("{}={}", r.key, r.values.front());
            case Op::kNotEquals:
                return fmt::format("{}!={}", r.key, r.values.front());
            case Op::kGreater:
                return fmt::format("{}>{}", r.key, r.values.front());
            case Op::kLess:
                return fmt::format("{}<{}", r.key, r.values.front());
            case Op::kIn:
                return fmt::format("{} in ({})", r.key, fmt::join(r.values, ","));
            case Op::kNotIn:
                return fmt::format("{} notin ({})", r.key, fmt::join(r.values, ","));
        }
        return std::string();
    };
    std::string all;
    for (const Requirement& requirement : requirements_) {
        if (!all.empty()) all += ',';
        all += text(requirement);
    }
    return all;
}

}  // namespace muster::kube
