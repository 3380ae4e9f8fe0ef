#include "cel/internal/call_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "cel/internal/characters.h"
#include "cel/internal/implementations.h"
#include "cel/internal/signatures.h"

namespace muster::cel {
namespace {

/// Operators have one implementation for all of their signatures.
bool is_operator(const Call& call) { return !is_letter(call.function.front()); }

/// Where a pattern is compiled beforehand, cel-go looks at the text alone.
bool has_fixed_pattern(const Call& call) {
    if (call.function != "matches" && call.function != "find" && call.function != "findAll")
        return false;
    const Expression& pattern = *call.arguments.back();
    return pattern.constant || pattern.as<Literal>();
}

/// Of the types whose values can be told apart: whether it is one of that type.
bool may_be(const Value& value, const Type& type) {
    switch (type.kind()) {
        case Type::Kind::kBool:
            return value.as<bool>() != nullptr;
        case Type::Kind::kInt:
            return value.as<std::int64_t>() != nullptr;
        case Type::Kind::kUint:
            return value.as<std::uint64_t>() != nullptr;
        case Type::Kind::kDouble:
            return value.as<double>() != nullptr;
        case Type::Kind::kString:
            return value.string() != nullptr;
        case Type::Kind::kList: {  // as far as its first element tells
            const List* list = value.list();
            return list && (list->size() == 0 || may_be(list->at(0), type.parameters()[0]));
        }
        default:
            return true;
    }
}

}  // namespace

bool stops_at_failure(const Expression& at, const Call& call) {
    const std::size_t count = call.arguments.size() + (call.target ? 1 : 0);
    return count > 2 || has_fixed_pattern(call) || (at.overloads.size() > 1 && !is_operator(call));
}

bool fit(const Expression& at, const Call& call, std::span<const Value> arguments) {
    if (at.signature == nullptr || is_operator(call)) return true;
    return std::ranges::equal(arguments, at.signature->arguments, may_be);
}

std::string no_overload_for(const Call& call, std::span<const Value> arguments) {
    std::string text = no_such_overload().error().text;
    if (is_operator(call)) return text;
    std::string types;
    for (const Value& argument : arguments)
        types += (types.empty() ? "" : ", ") + argument.type_name();
    return fmt::format("{}: {}({})", text, call.function, types);
}

}  // namespace muster::cel
