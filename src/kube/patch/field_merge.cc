#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "kube/internal/patch/erase_members.h"
#include "kube/internal/patch/field_structure.h"
#include "kube/patch/structured_merge.h"

namespace muster::kube {
namespace {

Error unmergeable(const FieldPathElements& path, std::string_view why) {
    return Error(Code::kInternal, fmt::format("{}: {}", describe(path), why));
}

std::string_view why_unidentified(const Schema& list, const json::value& item) {
    if (list.list_type == Schema::ListType::kSet)
        return "a set has an item that is not a string, boolean or whole number";
    return item.is_object() ? "a list with keys has an item that they don't identify"
                            : "a list with keys has an item that is not an object";
}

Result<void> check(const Schema* schema, const json::value& value, FieldPathElements& path) {
    const Structure structure = structure_of(schema, value);
    if (structure == Structure::kMap) {
        for (const auto& entry : value.get_object()) {
            path.push_back(PathElement::field(entry.key()));
            const Schema* field = field_schema_of(schema, entry.key());
            const bool closed = schema != nullptr && schema->type == Schema::Type::kObject &&
                                !schema->preserve_unknown;
            if (field == nullptr && closed)
                return unmergeable(path, "field not declared in schema");
            TRY_VOID(check(field, entry.value(), path));
            path.pop_back();
        }
    } else if (structure == Structure::kItems) {
        std::unordered_set<std::string> seen;
        for (const json::value& item : value.get_array()) {
            const std::optional<PathElement> element = element_of(*schema, item);
            if (!element) return unmergeable(path, why_unidentified(*schema, item));
            if (!seen.insert(element->text()).second)
                return unmergeable(
                    path, fmt::format("duplicate entries for key {}", element->describe()));
            path.push_back(*element);
            TRY_VOID(check(schema->items.get(), item, path));
            path.pop_back();
        }
    }
    return {};
}

/// The items of a live list by their elements.
class LiveItems {
  public:
    static constexpr std::size_t kRepeated = static_cast<std::size_t>(-1);

    explicit LiveItems(const std::vector<ListItem>& items) {
        for (std::size_t i = 0; i < items.size(); ++i)
            if (auto [place, fresh] = places_.emplace(items[i].element.text(), i); !fresh)
                place->second = kRepeated;
    }
    /// The item's place, kRepeated if there are several, nullopt if there is none.
    std::optional<std::size_t> find(const PathElement& element) const {
        const auto it = places_.find(element.text());
        if (it == places_.end()) return std::nullopt;
        return it->second;
    }

  private:
    std::unordered_map<std::string_view, std::size_t> places_;
};

void merge_lists(const Schema& schema, json::value& live, const json::array& configuration) {
    std::optional<std::vector<ListItem>> current = items_of(schema, live.get_array());
    std::optional<std::vector<ListItem>> applied = items_of(schema, configuration);
    if (!current || !applied) {
        live = configuration;
        return;
    }
    json::array& old = live.get_array();
    const LiveItems places(*current);
    std::unordered_set<std::string_view> wanted;
    for (const ListItem& item : *applied) wanted.insert(item.element.text());

    json::array merged(live.storage());
    merged.reserve(old.size() + configuration.size());
    std::size_t next = 0;
    // Items that only the live list has, up to the one to stop at.
    const auto pass_until = [&](const PathElement* stop) {
        for (; next < current->size(); ++next) {
            const PathElement& element = (*current)[next].element;
            if (stop != nullptr && element == *stop) break;
            if (!wanted.contains(element.text())) merged.push_back(std::move(old[next]));
        }
    };
    std::vector<const json::value*> fresh;  // from the configuration, not placed yet
    const auto place_fresh = [&] {
        for (const json::value* item : fresh) merged.push_back(*item);
        fresh.clear();
    };
    for (const ListItem& item : *applied) {
        const std::optional<std::size_t> place = places.find(item.element);
        if (!place) {
            fresh.push_back(item.value);
            continue;
        }
        pass_until(&item.element);
        place_fresh();
        json::value& target = merged.emplace_back(nullptr);
        if (*place == LiveItems::kRepeated) {
            target = *item.value;  // equal items become the wanted one
        } else {
            target = std::move(old[*place]);
            merge_fields(schema.items.get(), target, *item.value);
        }
    }
    pass_until(nullptr);
    place_fresh();
    old = std::move(merged);
}

}  // namespace

Result<void> check_mergeable(const Schema* schema, const json::value& configuration) {
    FieldPathElements path;
    return check(schema, configuration, path);
}

void merge_fields(const Schema* schema, json::value& live, const json::value& configuration) {
    const Structure current = structure_of(schema, live);
    const Structure wanted = structure_of(schema, configuration);
    if (current == Structure::kMap && wanted == Structure::kMap) {
        json::object& fields = live.get_object();
        for (const auto& entry : configuration.get_object()) {
            if (json::value* field = fields.if_contains(entry.key()))
                merge_fields(field_schema_of(schema, entry.key()), *field, entry.value());
            else
                fields.emplace(entry.key(), entry.value());
        }
    } else if (current == Structure::kItems && wanted == Structure::kItems) {
        merge_lists(*schema, live, configuration.get_array());
    } else if (!(configuration.is_null() && current != Structure::kLeaf &&
                 !is_empty_container(live))) {
        live = configuration;  // null instead of fields or items is a container without any
    }
}

void remove_fields(const Schema* schema, json::value& value, const FieldSet& fields) {
    if (fields.empty() || is_empty_container(value)) return;
    const Structure structure = structure_of(schema, value);
    if (structure == Structure::kMap) {
        json::object& object = value.get_object();
        std::unordered_set<std::string_view> erased;
        for (const FieldSet::Node& node : fields.nodes()) {
            if (!node.element.is_field()) continue;
            json::value* field = object.if_contains(node.element.name());
            if (field == nullptr) continue;
            if (node.member)
                erased.insert(node.element.name());
            else
                remove_fields(field_schema_of(schema, node.element.name()), *field, node.below);
        }
        erase_members(object, erased);
        if (object.empty()) value = nullptr;
    } else if (structure == Structure::kItems) {
        json::array& list = value.get_array();
        json::array kept(list.storage());
        kept.reserve(list.size());
        for (json::value& item : list) {
            const std::optional<PathElement> element = element_of(*schema, item);
            const FieldSet::Node* node = element ? fields.find(*element) : nullptr;
            if (node != nullptr && node->member) continue;
            if (node != nullptr) remove_fields(schema->items.get(), item, node->below);
            kept.push_back(std::move(item));
        }
        if (kept.empty())
            value = nullptr;
        else
            list = std::move(kept);
    }
}

}  // namespace muster::kube
