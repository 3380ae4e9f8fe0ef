#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "kube/internal/patch/field_structure.h"
#include "kube/patch/structured_merge.h"
#include "kube/values/equality.h"

namespace muster::kube {
namespace {

/// Writes what belongs to the creator of a value, without an intermediate FieldSet.
class NewFields {
  public:
    explicit NewFields(json::storage_ptr storage) : storage_(std::move(storage)) {}

    /// `own`: the map itself is new as well, which is written as "." if it has any content. `unset`:
    /// the same map where nothing is set.
    json::object in_map(const Schema* schema, const json::object& map, const FieldSet* ignored,
                        const json::object* unset, bool own) {
        std::vector<const json::key_value_pair*> fields;
        fields.reserve(map.size());
        for (const json::key_value_pair& field : map) fields.push_back(&field);
        std::ranges::sort(fields, {}, [](const auto* field) { return field->key(); });

        json::object found(storage_);
        found.reserve(map.size() + 1);
        for (const json::key_value_pair* field : fields) {
            const FieldSet* ignored_below = nullptr;
            if (ignored != nullptr) {
                if (const FieldSet::Node* node = ignored->find(PathElement::field(field->key()))) {
                    if (node->member) continue;
                    ignored_below = &node->below;
                }
            }
            const Schema* field_schema = field_schema_of(schema, field->key());
            const json::value* before =
                unset == nullptr ? nullptr : unset->if_contains(field->key());
            const bool leaf = structure_of(field_schema, field->value()) == Structure::kLeaf;
            if (before != nullptr && leaf && equal(*before, field->value())) continue;
            json::object below = in(field_schema, field->value(), ignored_below, before);
            if (before != nullptr && !leaf && below.empty()) continue;
            element_.resize(2);
            element_ += field->key();
            put(found, element_, std::move(below), own);
        }
        return found;
    }

  private:
    /// `before`: the value where nothing is set; null: it is not there.
    json::object in(const Schema* schema, const json::value& value, const FieldSet* ignored,
                    const json::value* before) {
        const json::object* unset = before == nullptr ? nullptr : before->if_object();
        switch (structure_of(schema, value)) {
            case Structure::kMap:
                return in_map(schema, value.get_object(), ignored, unset, before == nullptr);
            case Structure::kItems:
                return in_list(*schema, value.get_array(), before == nullptr);
            case Structure::kLeaf:
                break;
        }
        return json::object(storage_);
    }

    json::object in_list(const Schema& schema, const json::array& list, bool own) {
        json::object found(storage_);
        std::optional<std::vector<ListItem>> items = items_of(schema, list);
        if (!items) return found;
        std::ranges::sort(*items, {}, &ListItem::element);
        found.reserve(items->size() + 1);
        for (auto item = items->begin(); item != items->end();) {
            const auto next = std::find_if(item + 1, items->end(), [&](const ListItem& other) {
                return other.element != item->element;
            });
            // Items with equal elements can't be told apart: together they are one leaf.
            json::object below = next - item == 1
                                     ? in(schema.items.get(), *item->value, nullptr, nullptr)
                                     : json::object(storage_);
            put(found, item->element.text(), std::move(below), own);
            item = next;
        }
        return found;
    }

    void put(json::object& found, std::string_view element, json::object below, bool own) {
        if (own && found.empty()) found.emplace(".", json::object(storage_));
        found.emplace(element, std::move(below));
    }

    json::storage_ptr storage_;
    std::string element_ = "f:";
};

}  // namespace

json::object new_fields_of(const Schema* schema, const json::value& object, const FieldSet& ignored,
                           const json::value* unset, json::storage_ptr storage) {
    if (structure_of(schema, object) != Structure::kMap) return json::object(storage);
    json::object found =
        NewFields(storage).in_map(schema, object.get_object(), &ignored,
                                  unset == nullptr ? nullptr : unset->if_object(), false);
    // Every object has metadata, so no one owns metadata itself.
    if (json::value* metadata = found.if_contains("f:metadata")) {
        json::object& fields = metadata->get_object();
        fields.stable_erase(".");
        if (fields.empty()) found.stable_erase("f:metadata");
    }
    return found;
}

}  // namespace muster::kube
