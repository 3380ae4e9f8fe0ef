#include "cel/declaration.h"

#include <algorithm>
#include <array>

#include "cel/internal/characters.h"

namespace muster::cel {
namespace {

constexpr std::array<std::string_view, 21> kReserved = {
    "true",     "false",   "null",      "in",       "as",  "break",  "const",
    "continue", "else",    "for",       "function", "if",  "import", "let",
    "loop",     "package", "namespace", "return",   "var", "void",   "while"};

bool is_reserved(std::string_view word) {
    return std::ranges::find(kReserved, word) != kReserved.end();
}

}  // namespace

Type Declaration::type() const {
    switch (form) {
        case Form::kScalar:
            return scalar;
        case Form::kList:
            return Type::list(element->type());
        case Form::kMap:
            return Type::map(Type::Kind::kString, element->type());
        case Form::kObject:
            return Type::object(*this);
    }
    return {};
}

const Declaration::Field* Declaration::field(std::string_view escaped) const {
    auto it = fields.find(escaped);
    // Where a field is selected, a reserved word needs no escape: self.namespace.
    if (it == fields.end() && is_reserved(escaped)) it = fields.find(escape(escaped));
    return it == fields.end() ? nullptr : &it->second;
}

std::string escape(std::string_view field) {
    if (field.empty() || is_digit(field.front())) return {};
    if (is_reserved(field)) return "__" + std::string(field) + "__";
    std::string escaped;
    for (std::size_t i = 0; i < field.size(); ++i) {
        const char c = field[i];
        if (c == '.') {
            escaped += "__dot__";
        } else if (c == '-') {
            escaped += "__dash__";
        } else if (c == '/') {
            escaped += "__slash__";
        } else if (c == '_' && i + 1 < field.size() && field[i + 1] == '_') {
            escaped += "__underscores__";
            ++i;
        } else if (is_letter(c) || is_digit(c) || c == '_') {
            escaped += c;
        } else {
            return {};
        }
    }
    return escaped;
}

}  // namespace muster::cel
