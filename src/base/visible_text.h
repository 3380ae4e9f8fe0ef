#pragma once

#include <string>
#include <string_view>

namespace muster {

// Texts of others on a terminal, which obeys control characters: they set its title, clear it, or
// overwrite what was printed before.

/// The text with every control character (C1 and DEL too) and every character that changes the
/// direction of writing as an escape: `\x1b`, `\u009b`, `\u202e`. Tabs and line ends stay, and bytes
/// that are not UTF-8 become U+FFFD.
std::string visible_text(std::string_view text);
/// The same on one line: line ends are escapes, too (`\n`).
std::string visible_line(std::string_view text);

/// Without the sequences that set colours and other styles of characters, which do no harm but are
/// unreadable where they are made visible.
std::string without_styles(std::string_view text);

/// One line of a log for a terminal: colours and other styles of the characters stay (if `styles`),
/// and end with the line; any other control sequence and character goes, except for tabs.
std::string log_line_for_terminal(std::string_view line, bool styles);

}  // namespace muster
