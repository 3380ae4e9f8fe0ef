#pragma once

#include <string>
#include <string_view>

namespace muster::cli {

/// The text as one word of a shell's line: as it is where that says the same. Pure.
std::string shell_word(std::string_view text);

}  // namespace muster::cli
