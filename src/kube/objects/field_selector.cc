#include <fmt/format.h>

#include <algorithm>

#include "kube/objects/selector.h"

namespace muster::kube {
namespace {

/// Every object of a list is compared with each of them.
constexpr std::size_t kMostFieldRequirements = 100;

/// Removes the next term from the front: up to a comma that no backslash precedes.
std::string_view take_term(std::string_view& text) {
    std::size_t i = 0;
    while (i < text.size() && text[i] != ',') i += text[i] == '\\' ? 2 : 1;
    const std::string_view term = text.substr(0, i);
    text.remove_prefix(std::min(i + 1, text.size()));
    return term;
}

Result<std::string> unescape(std::string_view text) {
    std::string value;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == ',' || text[i] == '=')
            return Error(Code::kBadRequest,
                         fmt::format("invalid field selector: unescaped character in value: {} "
                                     "(write \\{})",
                                     text[i], text[i]));
        if (text[i] != '\\') {
            value += text[i];
            continue;
        }
        const std::string_view sequence = text.substr(i, 2);
        if (sequence != "\\\\" && sequence != "\\," && sequence != "\\=")
            return Error(
                Code::kBadRequest,
                fmt::format("invalid field selector: invalid escape sequence: {}", sequence));
        value += sequence[1];
        ++i;
    }
    return value;
}

}  // namespace

Result<std::vector<FieldRequirement>> parse_field_selector(std::string_view text) {
    std::vector<FieldRequirement> requirements;
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view term = take_term(rest);
        if (term.empty()) continue;
        const std::size_t at = term.find('=');
        if (at == std::string_view::npos)
            return Error(Code::kBadRequest, fmt::format("invalid selector: '{}'; can't understand "
                                                        "'{}'",
                                                        text, term));
        const bool negated = at > 0 && term[at - 1] == '!';
        const bool doubled = !negated && term.substr(at).starts_with("==");
        FieldRequirement requirement;
        requirement.negated = negated;
        requirement.path = term.substr(0, negated ? at - 1 : at);
        TRY(requirement.value, unescape(term.substr(doubled ? at + 2 : at + 1)));
        requirements.push_back(std::move(requirement));
        if (requirements.size() > kMostFieldRequirements)
            return Error(Code::kBadRequest,
                         fmt::format("a field selector has at most {} requirements",
                                     kMostFieldRequirements));
    }
    return requirements;
}

std::string to_string(const std::vector<FieldRequirement>& requirements) {
    std::string text;
    for (const FieldRequirement& requirement : requirements) {
        if (!text.empty()) text += ',';
        text += requirement.path;
        text += requirement.negated ? "!=" : "=";
        for (char c : requirement.value) {
            if (c == ',' || c == '=' || c == '\\') text += '\\';
            text += c;
        }
    }
    return text;
}

}  // namespace muster::kube
