#include "kube/schema/correlation.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>

#include "kube/internal/schema/schema_walk.h"
#include "kube/values/equality.h"

namespace muster::kube {

OldElements::OldElements(const Schema& schema, const json::value* before) : schema_(schema) {
    if (schema.list_type != Schema::ListType::kMap || before == nullptr) return;
    const json::array* list = before->if_array();
    if (list == nullptr) return;
    for (const json::value& element : *list) elements_.emplace(key_of(element), &element);
}

const json::value* OldElements::find(const json::value& element) const {
    if (elements_.empty()) return nullptr;
    const auto it = elements_.find(key_of(element));
    return it == elements_.end() ? nullptr : it->second;
}

std::string OldElements::key_of(const json::value& element) const {
    std::string key;
    const json::object* object = element.if_object();
    for (const std::string& name : schema_.list_map_keys) {
        const json::value* part = object ? object->if_contains(name) : nullptr;
        const std::string text = part ? json::serialize(*part) : std::string();
        key += fmt::format("{}:{}", text.size(), text);
    }
    return key;
}

const json::value* old_field(const Schema& schema, const json::value* before,
                             std::string_view key) {
    const json::object* object = before ? before->if_object() : nullptr;
    if (object == nullptr || field_schema(schema, key) == nullptr) return nullptr;
    return object->if_contains(key);
}

bool is_unchanged(const Schema& schema, const json::value& now, const json::value& before) {
    if (const json::object* object = now.if_object()) {
        const json::object* old = before.if_object();
        if (old == nullptr || old->size() != object->size()) return false;
        for (const auto& [key, field] : *object) {
            const json::value* known = old_field(schema, &before, key);
            if (known == nullptr || !is_unchanged(*field_schema(schema, key), field, *known))
                return false;
        }
        return true;
    }
    const json::array* list = now.if_array();
    if (list == nullptr || schema.list_type != Schema::ListType::kMap || !schema.items)
        return equal(now, before);
    const json::array* old = before.if_array();
    if (old == nullptr || old->size() != list->size()) return false;
    const OldElements elements(schema, &before);
    for (const json::value& element : *list) {
        const json::value* known = elements.find(element);
        if (known == nullptr || !is_unchanged(*schema.items, element, *known)) return false;
    }
    return true;
}

}  // namespace muster::kube
