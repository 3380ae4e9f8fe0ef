#include "cel/type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "cel/declaration.h"

namespace muster::cel {
namespace {

constexpr const char* kOptional = "optional_type";

/// Of a kind without parameters.
const char* text_of(Type::Kind kind) {
    switch (kind) {
        case Type::Kind::kError:
            return "!error!";
        case Type::Kind::kDyn:
            return "dyn";
        case Type::Kind::kNull:
            return "null";
        case Type::Kind::kBool:
            return "bool";
        case Type::Kind::kInt:
            return "int";
        case Type::Kind::kUint:
            return "uint";
        case Type::Kind::kDouble:
            return "double";
        case Type::Kind::kString:
            return "string";
        case Type::Kind::kBytes:
            return "bytes";
        case Type::Kind::kDuration:
            return "duration";
        case Type::Kind::kTimestamp:
            return "timestamp";
        case Type::Kind::kList:
            return "list";
        case Type::Kind::kMap:
            return "map";
        case Type::Kind::kType:
            return "type";
        case Type::Kind::kObject:
        case Type::Kind::kOpaque:
        case Type::Kind::kParameter:
            break;
    }
    return "";
}

}  // namespace

Type::Type(Kind kind, Parts parts) : kind_(kind) {
    for (const Type& parameter : parts.parameters) parts.count += parameter.parts();
    parts_ = std::make_shared<const Parts>(std::move(parts));
}

Type Type::list(Type element) {
    return {Kind::kList, Parts{.name = {}, .parameters = {std::move(element)}}};
}
Type Type::map(Type key, Type value) {
    return {Kind::kMap, Parts{.name = {}, .parameters = {std::move(key), std::move(value)}}};
}
Type Type::type_of(Type type) {
    return {Kind::kType, Parts{.name = {}, .parameters = {std::move(type)}}};
}
Type Type::optional(Type value) { return opaque(kOptional, {std::move(value)}); }
Type Type::opaque(std::string name, std::vector<Type> parameters) {
    return {Kind::kOpaque, Parts{.name = std::move(name), .parameters = std::move(parameters)}};
}
Type Type::parameter(std::string name) {
    return {Kind::kParameter, Parts{.name = std::move(name), .parameters = {}}};
}
Type Type::object(const Declaration& declaration) {
    return {Kind::kObject,
            Parts{.name = declaration.name, .parameters = {}, .declaration = &declaration}};
}

bool Type::is_optional() const { return kind_ == Kind::kOpaque && name() == kOptional; }

const std::string& Type::name() const {
    static const std::string none;
    return parts_ ? parts_->name : none;
}

std::span<const Type> Type::parameters() const {
    return parts_ ? std::span(parts_->parameters) : std::span<const Type>();
}

const Declaration* Type::declaration() const { return parts_ ? parts_->declaration : nullptr; }

Type Type::with_parameters(std::vector<Type> parameters) const {
    return {
        kind_,
        Parts{.name = name(), .parameters = std::move(parameters), .declaration = declaration()}};
}

std::string Type::text() const {
    std::string own = name().empty() ? text_of(kind_) : name();
    if (parameters().empty()) return own;
    std::vector<std::string> inner;
    for (const Type& parameter : parameters()) inner.push_back(parameter.text());
    return fmt::format("{}({})", own, fmt::join(inner, ", "));
}

std::string Type::runtime_name() const {
    switch (kind_) {
        case Kind::kNull:
            return "null_type";
        case Kind::kDuration:
            return "google.protobuf.Duration";
        case Kind::kTimestamp:
            return "google.protobuf.Timestamp";
        default:
            return name().empty() ? text_of(kind_) : name();
    }
}

bool operator==(const Type& a, const Type& b) {
    return a.kind_ == b.kind_ &&
           (a.parts_ == b.parts_ ||
            (a.name() == b.name() && std::ranges::equal(a.parameters(), b.parameters())));
}

}  // namespace muster::cel
