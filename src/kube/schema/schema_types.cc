#include "kube/internal/schema/schema_types.h"

#include <fmt/format.h>

#include <utility>

namespace muster::kube {
namespace {

using Type = Schema::Type;

/// In the order in which messages list them.
constexpr std::pair<std::string_view, Type> kTypes[] = {
    {"array", Type::kArray},   {"boolean", Type::kBoolean}, {"integer", Type::kInteger},
    {"number", Type::kNumber}, {"object", Type::kObject},   {"string", Type::kString}};

}  // namespace

std::string_view type_name(Type type) {
    for (const auto& [name, named] : kTypes)
        if (named == type) return name;
    return "";
}

std::optional<Type> type_named(std::string_view name) {
    for (const auto& [known, type] : kTypes)
        if (known == name) return type;
    return std::nullopt;
}

std::string known_type_names() {
    std::string names;
    for (const auto& [name, type] : kTypes)
        names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", name);
    return names;
}

std::string_view type_name(const json::value& value) {
    switch (value.kind()) {
        case json::kind::null:
            return "null";
        case json::kind::bool_:
            return type_name(Type::kBoolean);
        case json::kind::int64:
        case json::kind::uint64:
            return type_name(Type::kInteger);
        case json::kind::double_:
            return type_name(Type::kNumber);
        case json::kind::string:
            return type_name(Type::kString);
        case json::kind::array:
            return type_name(Type::kArray);
        case json::kind::object:
            return type_name(Type::kObject);
    }
    return "";
}

}  // namespace muster::kube
