#include "cli/internal/step/entry_text.h"

namespace muster::cli {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> entries_of(std::string_view text, std::string_view separators) {
    std::vector<std::string_view> entries;
    while (!text.empty()) {
        const std::size_t end = text.find_first_of(separators);
        if (const std::string_view entry = trimmed(text.substr(0, end)); !entry.empty())
            entries.push_back(entry);
        text = end == text.npos ? std::string_view() : text.substr(end + 1);
    }
    return entries;
}

}  // namespace muster::cli
