#include <fmt/format.h>
#include <re2/re2.h>

#include <memory>
#include <unordered_map>

#include "cel/internal/characters.h"
#include "cel/internal/library/arguments.h"

// RE2, as Go has it: no pattern takes more time than its text and itself are long.

namespace muster::cel {
namespace {

constexpr std::int64_t kMostMemory = std::int64_t{2} << 20;  ///< of one pattern
constexpr std::size_t kMostKept = 64;

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

std::shared_ptr<const RE2> compile(std::string_view pattern) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kMostMemory);
    return std::make_shared<const RE2>(piece(pattern), options);
}

/// Patterns of rules are the same each time.
std::shared_ptr<const RE2> compiled(std::string_view pattern) {
    thread_local std::unordered_map<std::string, std::shared_ptr<const RE2>> kept;
    const std::string key(pattern);
    if (const auto it = kept.find(key); it != kept.end()) return it->second;
    if (kept.size() >= kMostKept) kept.clear();
    return kept.emplace(key, compile(pattern)).first->second;
}

std::expected<std::shared_ptr<const RE2>, Failure> pattern_of(const Text& text) {
    std::shared_ptr<const RE2> pattern = compiled(text.view());
    if (!pattern->ok())
        return failure(fmt::format("Illegal regex: error parsing regexp: {}", pattern->error()));
    return pattern;
}

Outcome matches(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    const Text* expression = argument<Text>(arguments, 1);
    if (text == nullptr || expression == nullptr) return no_such_overload();
    const auto pattern = pattern_of(*expression);
    if (!pattern) return std::unexpected(pattern.error());
    return RE2::PartialMatch(piece(text->view()), **pattern);
}

/// The next match from a place on; nothing if there is none.
std::optional<std::string_view> next_match(const RE2& pattern, std::string_view text,
                                           std::size_t from) {
    re2::StringPiece found;
    if (!pattern.Match(piece(text), from, text.size(), RE2::UNANCHORED, &found, 1))
        return std::nullopt;
    return std::string_view(found.data(), found.size());
}

Outcome find(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    const Text* expression = argument<Text>(arguments, 1);
    if (text == nullptr || expression == nullptr) return no_such_overload();
    const auto pattern = pattern_of(*expression);
    if (!pattern) return std::unexpected(pattern.error());
    return Value::text(std::string(next_match(**pattern, text->view(), 0).value_or("")));
}

std::size_t after_character(std::string_view text, std::size_t at) {
    ++at;
    while (at < text.size() && continues_character(text[at])) ++at;
    return at;
}

Outcome find_all(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    const Text* expression = argument<Text>(arguments, 1);
    if (text == nullptr || expression == nullptr) return no_such_overload();
    const auto* most = argument<std::int64_t>(arguments, 2);
    const auto pattern = pattern_of(*expression);
    if (!pattern) return std::unexpected(pattern.error());
    const std::string_view all = text->view();
    std::vector<Value> found;
    std::size_t at = 0;
    std::optional<std::size_t> last_end;
    while (at <= all.size()) {
        const bool enough = most && *most >= 0 && static_cast<std::int64_t>(found.size()) >= *most;
        if (enough) break;
        const std::optional<std::string_view> match = next_match(**pattern, all, at);
        if (!match) break;
        const auto begin = static_cast<std::size_t>(match->data() - all.data());
        const std::size_t end = begin + match->size();
        // As Go: no empty match right behind another match.
        if (!match->empty() || last_end != begin) found.push_back(Value::text(std::string(*match)));
        last_end = end;
        at = match->empty() ? after_character(all, end) : end;
    }
    return Value::list(std::move(found));
}

constexpr NamedFunction kFunctions[] = {
    {"matches", matches},
    {"find", find},
    {"findAll", find_all},
};

}  // namespace

std::span<const NamedFunction> regex_functions() { return kFunctions; }

std::string pattern_problem(std::string_view pattern) {
    const std::shared_ptr<const RE2> compiled = compile(pattern);
    return compiled->ok() ? std::string() : compiled->error();
}

}  // namespace muster::cel
