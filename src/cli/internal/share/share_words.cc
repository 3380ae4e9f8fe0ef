#include "cli/internal/share/share_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace muster::cli {

namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

bool is_flag(const std::string& word) { return word.size() > 1 && word.front() == '-'; }

std::string_view without_dashes(std::string_view name) {
    name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
    return name;
}

bool is_name(std::string_view name) {
    name = without_dashes(name);
    if (name.empty() || (kLetters.find(name.front()) == kLetters.npos && name.front() != '_'))
        return false;
    return std::ranges::all_of(name, [](char letter) {
        return kLetters.find(letter) != kLetters.npos || (letter >= '0' && letter <= '9') ||
               letter == '_' || letter == '-';
    });
}

}  // namespace

ShareWords split_command(std::vector<std::string> words,
                         const std::vector<std::string>& with_value) {
    std::size_t at = 0;
    while (at < words.size() && words[at] != "--" && is_flag(words[at]))
        at += std::ranges::find(with_value, words[at]) == with_value.end() ? 1 : 2;
    at = std::min(at, words.size());
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(at);
    const auto command = at < words.size() && *begin == "--" ? begin + 1 : begin;
    return {.flags = {std::make_move_iterator(words.begin()), std::make_move_iterator(begin)},
            .command = {std::make_move_iterator(command), std::make_move_iterator(words.end())}};
}

std::optional<std::string> read_names(const std::string& text, std::string& index,
                                      std::string& count) {
    const std::size_t comma = text.find(',');
    const std::string first = text.substr(0, comma);
    const std::string second = comma == text.npos ? "" : text.substr(comma + 1);
    if (!is_name(first) || !is_name(second) || variable_of(first) == variable_of(second))
        return fmt::format(
            "--names wants two names of letters, digits, - and _, as in rank,world_size, not "
            "\"{}\"",
            text);
    index = first;
    count = second;
    return std::nullopt;
}

std::string flag_of(const std::string& name) { return name.starts_with('-') ? name : "--" + name; }

std::string variable_of(const std::string& name) {
    std::string variable(without_dashes(name));
    for (char& letter : variable) {
        if (letter == '-') letter = '_';
        if (letter >= 'a' && letter <= 'z') letter = static_cast<char>(letter - 'a' + 'A');
    }
    return variable;
}

}  // namespace muster::cli
