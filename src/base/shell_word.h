#pragma once

#include <string>
#include <string_view>

namespace muster {

/// The text as one word of a shell's command line, unquoted if that means the same. Pure.
std::string shell_word(std::string_view text);

/// Whether a word of a command is a shell of the Bourne family, by its name or the end of its path. Pure.
bool is_shell(std::string_view word);

}  // namespace muster
