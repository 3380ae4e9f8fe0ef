#include "jobs/internal/agents/shell_words.h"

#include <algorithm>

namespace muster::jobs {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;
constexpr std::string_view kBlanks = " \t\r";
/// A command ends at each of them.
constexpr std::string_view kCommandEnds = "\n;&|()`";
constexpr std::string_view kRedirections = "<>";

bool has_character(std::string_view characters, char c) { return characters.find(c) != kNowhere; }

bool ends_word(char c) {
    return has_character(kBlanks, c) || has_character(kCommandEnds, c) ||
           has_character(kRedirections, c);
}

/// Where the quote that begins at `open` is closed.
std::size_t closing_quote(std::string_view text, std::size_t open) {
    if (text[open] == '\'') return text.find('\'', open + 1);
    for (std::size_t at = open + 1; at < text.size(); ++at) {
        if (text[at] == '\\')
            ++at;
        else if (text[at] == '"')
            return at;
    }
    return kNowhere;
}

/// Reads the word at `word.begin`. False: a quote or a brace in it is not closed.
bool read_word(std::string_view text, ShellWord& word) {
    std::size_t at = word.begin;
    while (at < text.size() && !ends_word(text[at])) {
        const char c = text[at];
        if (c == '\\') {
            if (at + 1 < text.size() && text[at + 1] != '\n') word.value += text[at + 1];
            at = std::min(at + 2, text.size());
        } else if (c == '\'' || c == '"') {
            const std::size_t close = closing_quote(text, at);
            if (close == kNowhere) return false;
            word.value += text.substr(at + 1, close - at - 1);
            word.quoted =
                at == word.begin && (close + 1 == text.size() || ends_word(text[close + 1]));
            at = close + 1;
        } else if (c == '$' && text.substr(at).starts_with("${")) {
            const std::size_t close = text.find('}', at);
            if (close == kNowhere) return false;
            word.value += text.substr(at, close + 1 - at);
            at = close + 1;
        } else {
            word.value += c;
            ++at;
        }
    }
    word.end = at;
    return true;
}

}  // namespace

std::optional<std::vector<ShellWord>> read_shell_words(std::string_view text) {
    std::vector<ShellWord> words;
    bool first = true;
    bool printed = false;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '#') {
            at = std::min(text.find('\n', at), text.size());
        } else if (has_character(kBlanks, c) || has_character(kRedirections, c)) {
            ++at;
        } else if (text.substr(at).starts_with("\\\n")) {
            at += 2;
        } else if (has_character(kCommandEnds, c)) {
            first = true;
            printed = c == '`' || (c == '(' && at > 0 && text[at - 1] == '$');
            ++at;
        } else {
            ShellWord word{.begin = at, .first = first, .printed = first && printed};
            if (!read_word(text, word)) return std::nullopt;
            at = std::max(word.end, at + 1);
            words.push_back(std::move(word));
            first = false;
        }
    }
    return words;
}

}  // namespace muster::jobs
