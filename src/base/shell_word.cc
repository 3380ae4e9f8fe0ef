#include "base/shell_word.h"

#include <algorithm>
#include <array>

namespace muster {

std::string shell_word(std::string_view text) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+@%";
    if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos)
        return std::string(text);
    std::string word = "'";
    for (const char c : text) {
        if (c == '\'')
            word += "'\\''";
        else
            word += c;
    }
    return word + "'";
}

bool is_shell(std::string_view word) {
    static constexpr auto kShells =
        std::to_array<std::string_view>({"sh", "bash", "dash", "ash", "zsh", "ksh"});
    const std::string_view name = word.substr(word.rfind('/') + 1);  // npos + 1: all of it
    return std::ranges::find(kShells, name) != kShells.end();
}

}  // namespace muster
