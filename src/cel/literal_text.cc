#include "cel/literal_text.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "cel/internal/library/format_text.h"
#include "cel/internal/numbers_text.h"

namespace muster::cel {
namespace {

std::string list_literal(const List& list) {
    std::string text = "[";
    for (std::size_t i = 0; i < list.size(); ++i)
        text += (i > 0 ? ", " : "") + literal_text(list.at(i));
    return text + "]";
}

std::string map_literal(const Map& map) {
    std::map<std::string, std::string> sorted;
    map.for_each([&](const Value& key, const Value& value) {
        sorted.emplace(literal_text(key), literal_text(value));
        return true;
    });
    std::string text(map.type_name());
    text += '{';
    std::string_view gap;
    for (const auto& [key, value] : sorted) {
        text += gap;
        text += key + ": " + value;
        gap = ", ";
    }
    return text + "}";
}

std::string double_literal(double number) {
    std::string text = double_text(number);
    const bool looks_whole = text.find_first_not_of("-0123456789") == text.npos;
    return looks_whole ? text + ".0" : text;
}

}  // namespace

std::string literal_text(const Value& value) {
    if (std::optional<std::string> literal = quoted_literal(value)) return *std::move(literal);
    if (const List* list = value.list()) return list_literal(*list);
    if (const Map* map = value.map()) return map_literal(*map);
    if (value.is_null()) return "null";
    if (const bool* flag = value.as<bool>()) return *flag ? "true" : "false";
    if (const auto* number = value.as<std::int64_t>()) return fmt::format("{}", *number);
    if (const auto* number = value.as<std::uint64_t>()) return fmt::format("{}u", *number);
    if (const auto* number = value.as<double>()) return double_literal(*number);
    if (const auto* name = value.as<TypeName>()) return name->name;
    if (const auto* held = value.as<Value::Optional>())
        return (*held)->has_value() ? fmt::format("optional.of({})", literal_text(***held))
                                    : std::string("optional.none()");
    if (const auto* held = value.as<std::shared_ptr<const Opaque>>())
        return fmt::format("{}({})", (*held)->type_name(), quoted_text((*held)->content()));
    return "error";
}

}  // namespace muster::cel
