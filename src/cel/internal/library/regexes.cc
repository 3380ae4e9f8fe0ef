#include <fmt/format.h>

#include <memory>

#include "cel/internal/characters.h"
#include "cel/internal/library/arguments.h"
#include "kube/values/regex.h"

namespace muster::cel {
namespace {

std::expected<std::shared_ptr<const kube::Regex>, Failure> pattern_of(const Text& text) {
    std::shared_ptr<const kube::Regex> pattern = kube::Regex::of(text.view());
    if (!pattern->problem().empty())
        return failure(fmt::format("Illegal regex: {}", pattern->problem()));
    return pattern;
}

Outcome matches(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    const Text* expression = argument<Text>(arguments, 1);
    if (text == nullptr || expression == nullptr) return no_such_overload();
    const auto pattern = pattern_of(*expression);
    if (!pattern) return std::unexpected(pattern.error());
    return (*pattern)->matches(text->view());
}

Outcome find(Arguments arguments) {
    const Text* text = argument<Text>(arguments, 0);
    const Text* expression = argument<Text>(arguments, 1);
    if (text == nullptr || expression == nullptr) return no_such_overload();
    const auto pattern = pattern_of(*expression);
    if (!pattern) return std::unexpected(pattern.error());
    return Value::text(std::string((*pattern)->find(text->view(), 0).value_or("")));
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
        const std::optional<std::string_view> match = (*pattern)->find(all, at);
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

}  // namespace muster::cel
