#include "kube/objects/variable_references.h"

#include <algorithm>

namespace muster::kube {

std::optional<std::string> expand_variables(
    std::string_view text, const std::function<const std::string*(std::string_view)>& lookup,
    std::size_t most) {
    // Looked for once, however often a parenthesis opens.
    const std::size_t last_close = text.rfind(')');
    const char* const close = last_close == text.npos ? nullptr : text.data() + last_close;
    const auto closes = [close](std::string_view rest) {
        return close != nullptr && rest.data() < close;
    };
    std::string result;
    const auto add = [&](std::string_view piece) {
        if (piece.size() > most - result.size()) return false;
        result += piece;
        return true;
    };
    while (!text.empty()) {
        const std::size_t dollar = std::min(text.find('$'), text.size());
        if (!add(text.substr(0, dollar))) return std::nullopt;
        text.remove_prefix(dollar);
        if (text.empty()) break;
        // "$(VAR)", "$$", or "$" and what follows it, if anything does.
        std::string_view piece = text.substr(0, 2);
        std::size_t length = piece.size();
        if (piece == "$$") {
            piece = "$";
        } else if (piece == "$(" && closes(text)) {
            length = text.find(')') + 1;
            piece = text.substr(0, length);
            const std::string* value = lookup(text.substr(2, length - 3));
            if (value != nullptr) piece = *value;
        }
        if (!add(piece)) return std::nullopt;
        text.remove_prefix(length);
    }
    return result;
}

}  // namespace muster::kube
