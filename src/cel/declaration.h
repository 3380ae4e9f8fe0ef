#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cel/type.h"

namespace muster::cel {

/// What CEL knows of a part of a JSON document: its type, how long it can be, and how its values
/// are read. Made from the schema of a kind. Upstream: DeclType of
/// k8s.io/apiserver/pkg/cel. Owns what it is made of, and must outlive each Type of it. Immutable,
/// any thread.
struct Declaration {
    enum class Form : std::uint8_t { kScalar, kList, kMap, kObject };
    /// How lists compare and are added (x-kubernetes-list-type).
    enum class ListType : std::uint8_t { kAtomic, kSet, kMap };

    struct Field {
        std::string json_name;
        std::shared_ptr<const Declaration> declaration;
    };

    std::string name;  ///< of an object: "self.spec"
    Form form = Form::kScalar;
    Type::Kind scalar = Type::Kind::kDyn;  ///< of a scalar

    /// Of an object, by their names as CEL writes them (escape()).
    std::map<std::string, Field, std::less<>> fields;
    std::shared_ptr<const Declaration> element;  ///< of a list, and the values of a map
    ListType list_type = ListType::kAtomic;
    std::vector<std::string> list_map_keys;

    /// The most elements, entries, characters or bytes that there can be: 0 for numbers.
    std::int64_t max_elements = 0;
    /// The fewest bytes that it takes as JSON. How often a part can stand in a request follows.
    std::int64_t min_serialized_size = 0;

    Type type() const;
    const Field* field(std::string_view escaped) const;
};

using DeclarationPtr = std::shared_ptr<const Declaration>;

/// The name of a field as CEL writes it: "a-b" is "a__dash__b", a reserved word "__in__". "" if
/// there is no such name. Upstream: k8s.io/apiserver/pkg/cel, escaping.go.
std::string escape(std::string_view field);

}  // namespace muster::cel
