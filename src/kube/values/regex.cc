#include "kube/values/regex.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <functional>
#include <unordered_map>

namespace muster::kube {
namespace {

constexpr std::int64_t kMostMemory = std::int64_t{2} << 20;  ///< of one pattern
constexpr std::size_t kMostKept = 32;                        ///< by a thread

re2::StringPiece piece(std::string_view text) { return {text.data(), text.size()}; }

RE2::Options options() {
    RE2::Options made;
    made.set_log_errors(false);
    made.set_max_mem(kMostMemory);
    return made;
}

std::string_view words_of(RE2::ErrorCode code) {
    switch (code) {
        case RE2::NoError:
            return {};
        case RE2::ErrorBadEscape:
            return "invalid escape sequence";
        case RE2::ErrorBadCharClass:
            return "invalid character class";
        case RE2::ErrorBadCharRange:
            return "invalid character class range";
        case RE2::ErrorMissingBracket:
            return "missing closing ]";
        case RE2::ErrorMissingParen:
            return "missing closing )";
        case RE2::ErrorUnexpectedParen:
            return "unexpected )";
        case RE2::ErrorTrailingBackslash:
            return "trailing backslash at end of expression";
        case RE2::ErrorRepeatArgument:
            return "missing argument to repetition operator";
        case RE2::ErrorRepeatSize:
            return "invalid repeat count";
        case RE2::ErrorRepeatOp:
            return "invalid nested repetition operator";
        case RE2::ErrorBadPerlOp:
            return "invalid or unsupported Perl syntax";
        case RE2::ErrorBadUTF8:
            return "invalid UTF-8";
        case RE2::ErrorBadNamedCapture:
            return "invalid named capture";
        case RE2::ErrorPatternTooLarge:
            return "expression too large";
        case RE2::ErrorInternal:
            break;
    }
    return "regexp/syntax: internal error";
}

std::string problem_of(const RE2& pattern) {
    if (pattern.ok()) return {};
    return fmt::format("error parsing regexp: {}: `{}`", words_of(pattern.error_code()),
                       pattern.error_arg());
}

struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
        return std::hash<std::string_view>()(text);
    }
};

}  // namespace

struct Regex::Compiled {
    explicit Compiled(std::string_view pattern) : program(piece(pattern), options()) {}
    RE2 program;
};

Regex::Regex(std::string_view pattern)
    : compiled_(std::make_unique<const Compiled>(pattern)),
      problem_(problem_of(compiled_->program)) {}

Regex::~Regex() = default;

std::shared_ptr<const Regex> Regex::of(std::string_view pattern) {
    thread_local std::unordered_map<std::string, std::shared_ptr<const Regex>, Hash,
                                    std::equal_to<>>
        kept;
    if (const auto it = kept.find(pattern); it != kept.end()) return it->second;
    if (kept.size() >= kMostKept) kept.clear();
    return kept.emplace(std::string(pattern), std::make_shared<const Regex>(pattern)).first->second;
}

std::size_t Regex::size() const {
    return problem_.empty() ? static_cast<std::size_t>(compiled_->program.ProgramSize()) : 0;
}

bool Regex::matches(std::string_view text) const {
    return problem_.empty() && RE2::PartialMatch(piece(text), compiled_->program);
}

std::optional<std::string_view> Regex::find(std::string_view text, std::size_t from) const {
    re2::StringPiece found;
    if (!problem_.empty() ||
        !compiled_->program.Match(piece(text), from, text.size(), RE2::UNANCHORED, &found, 1))
        return std::nullopt;
    return std::string_view(found.data(), found.size());
}

}  // namespace muster::kube
