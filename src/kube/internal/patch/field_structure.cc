#include "kube/internal/patch/field_structure.h"

#include "kube/internal/schema/schema_walk.h"

namespace muster::kube {
Structure structure_of(const Schema* schema, const json::value& value) {
    const bool untyped = schema == nullptr || schema->type == Schema::Type::kAny;
    if (value.is_object()) {
        if (untyped) return Structure::kMap;
        return schema->type == Schema::Type::kObject && !schema->atomic ? Structure::kMap
                                                                        : Structure::kLeaf;
    }
    if (value.is_array() && !untyped && schema->type == Schema::Type::kArray &&
        schema->list_type != Schema::ListType::kAtomic)
        return Structure::kItems;
    return Structure::kLeaf;
}

bool is_empty_container(const json::value& value) {
    if (const json::object* object = value.if_object()) return object->empty();
    const json::array* array = value.if_array();
    return array != nullptr && array->empty();
}

const Schema* field_schema_of(const Schema* object, std::string_view key) {
    return object == nullptr ? nullptr : field_schema(*object, key);
}

bool is_named_field(const Schema* object, std::string_view key) {
    return object != nullptr && object->property(key) != nullptr;
}

std::optional<PathElement> element_of(const Schema& list, const json::value& item) {
    if (list.list_type == Schema::ListType::kSet) {
        if (!PathElement::identifies(item)) return std::nullopt;
        return PathElement::item(item);
    }
    const json::object* fields = item.if_object();
    if (fields == nullptr) return std::nullopt;
    std::vector<PathElement::Key> keys;
    keys.reserve(list.list_map_keys.size());
    for (const std::string& name : list.list_map_keys) {
        const json::value* key = fields->if_contains(name);
        if (key == nullptr || key->is_null()) {
            const Schema* known = list.items == nullptr ? nullptr : list.items->property(name);
            if (known == nullptr || known->default_value.is_null()) continue;
            key = &known->default_value;
        }
        if (!PathElement::identifies(*key)) return std::nullopt;
        keys.emplace_back(name, key);
    }
    if (keys.empty()) return std::nullopt;
    return PathElement::keys(std::move(keys));
}

std::optional<std::vector<ListItem>> items_of(const Schema& list, const json::array& items) {
    std::vector<ListItem> found;
    found.reserve(items.size());
    for (const json::value& item : items) {
        std::optional<PathElement> element = element_of(list, item);
        if (!element) return std::nullopt;
        found.push_back({*std::move(element), &item});
    }
    return found;
}

}  // namespace muster::kube
