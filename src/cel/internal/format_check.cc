#include "cel/internal/format_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "cel/internal/library/format_clauses.h"

namespace muster::cel {
namespace {

using Kind = Type::Kind;

bool is_kind(const Type& type, std::initializer_list<Kind> kinds) {
    return type.kind() == Kind::kDyn || std::ranges::find(kinds, type.kind()) != kinds.end();
}

/// The part of the expression that %s can't write; null: it can.
const Expression* unfit_for_text(const Expression& expression) {
    if (!is_kind(expression.type, {Kind::kList, Kind::kMap, Kind::kInt, Kind::kUint, Kind::kDouble,
                                   Kind::kBool, Kind::kString, Kind::kTimestamp, Kind::kBytes,
                                   Kind::kDuration, Kind::kType, Kind::kNull}))
        return &expression;
    if (const auto* list = expression.as<MakeList>())
        for (const ExpressionPtr& element : list->elements)
            if (const Expression* unfit = unfit_for_text(*element)) return unfit;
    if (const auto* map = expression.as<MakeMap>())
        for (const MakeMap::Entry& entry : map->entries) {
            if (const Expression* unfit = unfit_for_text(*entry.key)) return unfit;
            if (const Expression* unfit = unfit_for_text(*entry.value)) return unfit;
        }
    return nullptr;
}

bool fits(char letter, const Type& type) {
    switch (letter) {
        case 'f':
        case 'e':
            return is_kind(type, {Kind::kDouble, Kind::kString});
        case 'b':
            return is_kind(type, {Kind::kInt, Kind::kUint, Kind::kBool});
        case 'x':
        case 'X':
            return is_kind(type, {Kind::kInt, Kind::kUint, Kind::kString, Kind::kBytes});
        default:
            return is_kind(type, {Kind::kInt, Kind::kUint});
    }
}

std::optional<std::string> argument_problem(char letter, const Expression& argument) {
    if (!std::string_view("sdfebxXo").contains(letter)) return unknown_clause(letter);
    const Expression* unfit = &argument;
    if (letter == 's')
        unfit = unfit_for_text(argument);
    else if (fits(letter, argument.type))
        unfit = nullptr;
    if (unfit == nullptr) return std::nullopt;
    return unfit_argument(letter, unfit->type.runtime_name());
}

}  // namespace

std::optional<std::string> format_problem(std::string_view format, const MakeList& elements) {
    const std::size_t given = elements.elements.size();
    FormatReader reader(format);
    std::string text;
    for (std::size_t next = 0;; ++next) {
        const auto clause = reader.next(text);
        if (!clause) return clause.error();
        if (!*clause && next == given) return std::nullopt;
        if (!*clause)
            return fmt::format("too many arguments supplied to string.format (expected {}, got {})",
                               next, given);
        if (next >= given) return missing_argument(next);
        if (auto problem = argument_problem((*clause)->letter, *elements.elements[next]))
            return problem;
    }
}

}  // namespace muster::cel
