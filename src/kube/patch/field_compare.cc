#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "kube/internal/patch/field_structure.h"
#include "kube/patch/structured_merge.h"
#include "kube/values/equality.h"

namespace muster::kube {
namespace {

using Node = FieldSet::Node;

/// The result of a comparison at one place: for the place itself, and below it.
struct Found {
    bool added = false;
    bool modified = false;
    bool removed = false;
    FieldChanges below;

    bool anything() const { return added || modified || removed || !below.empty(); }
};

/// The results for the fields or items of one value.
class Findings {
  public:
    void add(PathElement element, Found found) {
        put(modified_, element, found.modified, std::move(found.below.modified));
        put(removed_, element, found.removed, std::move(found.below.removed));
        put(added_, std::move(element), found.added, std::move(found.below.added));
    }
    FieldChanges take() {
        return {FieldSet::of(std::move(added_)), FieldSet::of(std::move(modified_)),
                FieldSet::of(std::move(removed_))};
    }

  private:
    template <class Element>
    static void put(std::vector<Node>& nodes, Element&& element, bool member, FieldSet below) {
        if (member || !below.empty())
            nodes.push_back({std::forward<Element>(element), member, std::move(below)});
    }

    std::vector<Node> added_;
    std::vector<Node> modified_;
    std::vector<Node> removed_;
};

Found compare(const Schema* schema, const json::value* before, const json::value* after,
              const FieldSet* ignored);

/// The fields of two objects, of which one may be null.
FieldChanges compare_maps(const Schema* schema, const json::object* before,
                          const json::object* after, const FieldSet* ignored) {
    Findings findings;
    const auto visit = [&](std::string_view key, const json::value* old_value,
                           const json::value* new_value) {
        const FieldSet* ignored_below = nullptr;
        if (ignored != nullptr) {
            if (const Node* node = ignored->find(PathElement::field(key))) {
                if (node->member) return;
                ignored_below = &node->below;
            }
        }
        Found found = compare(field_schema_of(schema, key), old_value, new_value, ignored_below);
        if (found.anything()) findings.add(PathElement::field(key), std::move(found));
    };
    std::size_t shared = 0;
    if (after != nullptr) {
        for (const auto& entry : *after) {
            const json::value* old_value =
                before == nullptr ? nullptr : before->if_contains(entry.key());
            if (old_value != nullptr) ++shared;
            visit(entry.key(), old_value, &entry.value());
        }
    }
    if (before != nullptr && shared < before->size())
        for (const auto& entry : *before)
            if (after == nullptr || !after->contains(entry.key()))
                visit(entry.key(), &entry.value(), nullptr);
    return findings.take();
}

using Items = std::vector<ListItem>;

/// The range of the items with the element of `from`.
Items::const_iterator end_of_equals(Items::const_iterator from, Items::const_iterator end) {
    return std::find_if(from, end,
                        [&](const ListItem& item) { return item.element != from->element; });
}

/// Items with equal elements can't be told apart: together they are one leaf.
Found compare_items(const Schema* item, Items::const_iterator old_begin,
                    Items::const_iterator old_end, Items::const_iterator new_begin,
                    Items::const_iterator new_end) {
    const auto before = old_end - old_begin;
    const auto after = new_end - new_begin;
    if (before <= 1 && after <= 1)
        return compare(item, before == 0 ? nullptr : old_begin->value,
                       after == 0 ? nullptr : new_begin->value, nullptr);
    Found found;
    if (before > 1 && after > 1) {
        found.modified = !std::equal(
            old_begin, old_end, new_begin, new_end,
            [](const ListItem& a, const ListItem& b) { return equal(*a.value, *b.value); });
    } else if (before > 1) {
        if (after == 1) found = compare(item, nullptr, new_begin->value, nullptr);
        found.removed = true;
    } else {
        if (before == 1) found = compare(item, old_begin->value, nullptr, nullptr);
        found.added = true;
    }
    return found;
}

/// By their elements; equal ones in the order of the list, which is that of their addresses.
void sort_items(Items& items) {
    std::ranges::sort(items, [](const ListItem& a, const ListItem& b) {
        const auto order = a.element <=> b.element;
        return order != 0 ? order < 0 : a.value < b.value;
    });
}

FieldChanges compare_lists(const Schema* item, Items before, Items after) {
    sort_items(before);
    sort_items(after);
    Findings findings;
    Items::const_iterator left = before.begin();
    Items::const_iterator right = after.begin();
    while (left != before.end() || right != after.end()) {
        auto order = std::strong_ordering::equal;
        if (left == before.end())
            order = std::strong_ordering::greater;
        else if (right == after.end())
            order = std::strong_ordering::less;
        else
            order = left->element <=> right->element;
        const auto left_end = order <= 0 ? end_of_equals(left, before.end()) : left;
        const auto right_end = order >= 0 ? end_of_equals(right, after.end()) : right;
        const PathElement& element = order <= 0 ? left->element : right->element;
        Found found = compare_items(item, left, left_end, right, right_end);
        if (found.anything()) findings.add(element, std::move(found));
        left = left_end;
        right = right_end;
    }
    return findings.take();
}

Structure structure_at(const Schema* schema, const json::value* value) {
    return value == nullptr ? Structure::kLeaf : structure_of(schema, *value);
}

/// Compares what is below two values of the same structure, of which one may be null.
Found compare_contents(const Schema* schema, Structure structure, const json::value* before,
                       const json::value* after, const FieldSet* ignored) {
    Found found;
    if (structure == Structure::kMap) {
        found.below = compare_maps(schema, before == nullptr ? nullptr : before->if_object(),
                                   after == nullptr ? nullptr : after->if_object(), ignored);
        return found;
    }
    if (before != nullptr && after != nullptr && equal(*before, *after)) return found;
    std::optional<Items> old_items = Items();
    std::optional<Items> new_items = Items();
    if (before != nullptr) old_items = items_of(*schema, before->get_array());
    if (after != nullptr) new_items = items_of(*schema, after->get_array());
    if (!old_items || !new_items) {
        found.modified = before != nullptr && after != nullptr;
        return found;
    }
    found.below = compare_lists(schema->items.get(), *std::move(old_items), *std::move(new_items));
    return found;
}

Found compare(const Schema* schema, const json::value* before, const json::value* after,
              const FieldSet* ignored) {
    const Structure old_structure = structure_at(schema, before);
    const Structure new_structure = structure_at(schema, after);
    Found found;
    if (before == nullptr || after == nullptr) {
        const Structure structure = before == nullptr ? new_structure : old_structure;
        if (structure != Structure::kLeaf)
            found = compare_contents(schema, structure, before, after, ignored);
        found.added = before == nullptr;
        found.removed = after == nullptr;
        return found;
    }
    if (old_structure == new_structure) {
        if (old_structure != Structure::kLeaf)
            return compare_contents(schema, old_structure, before, after, ignored);
        found.modified = !equal(*before, *after);
        return found;
    }
    // A leaf became a container, or the reverse. Null on one side counts as an empty one.
    if (old_structure != Structure::kLeaf)
        found.below.removed =
            compare_contents(schema, old_structure, before, nullptr, ignored).below.removed;
    if (new_structure != Structure::kLeaf)
        found.below.added =
            compare_contents(schema, new_structure, nullptr, after, ignored).below.added;
    found.modified = !before->is_null() && !after->is_null();
    return found;
}

/// The fields and items of a container.
FieldSet fields_below(const Schema* schema, const json::value& value) {
    std::vector<Node> nodes;
    const Structure structure = structure_of(schema, value);
    if (structure == Structure::kMap) {
        for (const auto& entry : value.get_object()) {
            const Schema* field = field_schema_of(schema, entry.key());
            FieldSet below = fields_below(field, entry.value());
            const bool container = structure_of(field, entry.value()) != Structure::kLeaf;
            const bool empty_map = entry.value().is_object() && entry.value().get_object().empty();
            const bool member = !container || !is_named_field(schema, entry.key()) || empty_map;
            if (member || !below.empty())
                nodes.push_back({PathElement::field(entry.key()), member, std::move(below)});
        }
    } else if (structure == Structure::kItems) {
        const std::optional<Items> items = items_of(*schema, value.get_array());
        if (!items) return {};
        for (const ListItem& item : *items)
            nodes.push_back({item.element, true, fields_below(schema->items.get(), *item.value)});
    }
    return FieldSet::of(std::move(nodes));
}

}  // namespace

FieldChanges compare_fields(const Schema* schema, const json::value& before,
                            const json::value& after, const FieldSet& ignored) {
    return compare(schema, &before, &after, ignored.empty() ? nullptr : &ignored).below;
}

FieldSet field_set_of(const Schema* schema, const json::value& configuration) {
    return fields_below(schema, configuration);
}

FieldSet with_named_fields(const Schema* schema, const FieldSet& set) {
    std::vector<Node> nodes;
    nodes.reserve(set.nodes().size());
    for (const Node& node : set.nodes()) {
        const bool field = node.element.is_field();
        const Schema* inner = nullptr;
        if (schema != nullptr)
            inner = field ? field_schema_of(schema, node.element.name()) : schema->items.get();
        nodes.push_back({node.element,
                         node.member || (field && is_named_field(schema, node.element.name())),
                         with_named_fields(inner, node.below)});
    }
    return FieldSet::of(std::move(nodes));
}

}  // namespace muster::kube
