#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::jobs {

/// A word in the text of a shell.
struct ShellWord {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::string value = {};  ///< without its quotes; nothing is replaced in it
    bool quoted = false;     ///< by one pair of quotes around all of it
    bool first = false;      ///< of a command: at the beginning, or after ; & | ( ) or a new line
    bool printed = false;    ///< the first of a command in $( ) or ` `, whose output is used
};

/// The words of a text, as far as POSIX shells agree on them; comments have none, and a
/// here-document is read as commands. Nothing if a quote is not closed. Pure.
std::optional<std::vector<ShellWord>> read_shell_words(std::string_view text);

}  // namespace muster::jobs
