#pragma once

#include <string>
#include <string_view>

namespace muster {

/// The text as one word of a shell's command line, unquoted if that means the same. Pure.
std::string shell_word(std::string_view text);

}  // namespace muster
