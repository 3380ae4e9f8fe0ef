#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <vector>

#include "kube/patch/field_set.h"
#include "kube/schema/schema.h"

namespace muster::kube {

/// How a value is taken apart into fields.
enum class Structure {
    kLeaf,   ///< not at all
    kMap,    ///< an object, by its keys
    kItems,  ///< a list with keys or a set, by its items
};

/// A null schema stands for a value that no schema describes.
Structure structure_of(const Schema* schema, const json::value& value);
/// An object without fields or a list without items.
bool is_empty_container(const json::value& value);
/// The schema of a field of a kMap; null if nothing is known about it.
const Schema* field_schema_of(const Schema* object, std::string_view key);
/// The schema names the field: it is not a key of a map.
bool is_named_field(const Schema* object, std::string_view key);

/// What identifies an item of a list with keys or of a set; nullopt if nothing does. Missing keys
/// have their defaults.
std::optional<PathElement> element_of(const Schema& list, const json::value& item);

struct ListItem {
    PathElement element;
    const json::value* value;
};
/// The items of a kItems list in the list's order, or nullopt if one can't be identified: then the
/// list is a leaf.
std::optional<std::vector<ListItem>> items_of(const Schema& list, const json::array& items);

}  // namespace muster::kube
