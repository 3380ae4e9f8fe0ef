#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/utf8.h"
#include "kube/internal/patch/erase_members.h"
#include "kube/internal/patch/list_order.h"
#include "kube/internal/schema/schema_walk.h"
#include "kube/patch/patch.h"
#include "kube/schema/schema.h"
#include "kube/values/text_size.h"

namespace muster::kube {
namespace {

constexpr std::string_view kPatch = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kSetElementOrder = "$setElementOrder/";
constexpr std::string_view kDeleteFromPrimitiveList = "$deleteFromPrimitiveList/";

/// How much a patch may merge into items that it has changed already, in bytes of their text: each
/// of these merges looks through the whole item, so that one key for all items of a long list would
/// cost the square of its length. Ports of two protocols, which clients send with one key, need far
/// less.
constexpr std::size_t kMaxMergedAgain = 256 * 1024;

bool is_directive(std::string_view key) {
    return key == kPatch || key == kRetainKeys || key.starts_with(kSetElementOrder) ||
           key.starts_with(kDeleteFromPrimitiveList);
}

enum class Directive { kMerge, kReplace, kDelete };

/// The path, as messages begin with it.
std::string place_of(const FieldPath& path) {
    const std::string text = path.text();
    return fmt::format("strategic merge patch: {}", text.empty() ? "." : text);
}

Error bad_patch(const FieldPath& path, std::string_view why) {
    return Error(Code::kBadRequest, fmt::format("{}: {}", place_of(path), why));
}

/// The object's `$patch`; kMerge without one.
Result<Directive> directive_of(const json::object& patch, const FieldPath& path) {
    const json::value* value = patch.if_contains(kPatch);
    if (value == nullptr) return Directive::kMerge;
    if (*value == "merge") return Directive::kMerge;
    if (*value == "replace") return Directive::kReplace;
    if (*value == "delete") return Directive::kDelete;
    return bad_patch(path, fmt::format("unknown $patch {}; there are \"merge\", \"replace\" and "
                                       "\"delete\"",
                                       json::serialize(*value)));
}

/// Makes plain data of a part of a patch that there is nothing to merge with: without directives
/// and null members. False if a directive says that it must not exist.
bool settle(json::value& value) {
    if (json::array* array = value.if_array()) {
        json::array kept;
        kept.reserve(array->size());
        for (json::value& item : *array) {
            const json::object* object = item.if_object();
            const bool only_directive =
                object != nullptr && object->size() == 1 && object->contains(kPatch);
            if (!only_directive && settle(item)) kept.push_back(std::move(item));
        }
        *array = std::move(kept);
        return true;
    }
    json::object* object = value.if_object();
    if (object == nullptr) return true;
    if (const json::value* directive = object->if_contains(kPatch))
        if (*directive == "delete") return false;
    json::object kept;
    kept.reserve(object->size());
    for (auto& entry : *object)
        if (!is_directive(entry.key()) && !entry.value().is_null() && settle(entry.value()))
            kept.emplace(entry.key(), std::move(entry.value()));
    *object = std::move(kept);
    return true;
}

/// What identifies an item of a patch's list; an error if nothing does.
Result<std::string> require_identity(const ListIdentity& identity, const json::value& item,
                                     const FieldPath& path) {
    if (identity.keyed() != item.is_object())
        return bad_patch(path, identity.keyed() ? "the list's items must be objects"
                                                : "the list's items must not be objects");
    std::string id = identity.of(item);
    if (!id.empty()) return id;
    return Error(Code::kInternal,
                 fmt::format("{}: {} does not contain declared merge key: {}", place_of(path),
                             json::serialize(item).substr(0, 200), identity.key()));
}

const Schema* schema_of(const Schema* object, std::string_view key) {
    if (object == nullptr) return nullptr;
    if (const Schema* property = object->property(key)) return property;
    return object->additional.get();
}

bool merges(const Schema* list) {
    return list != nullptr && (!list->patch_merge_key.empty() || list->patch_merge_primitive);
}

/// Scalars: their union, as one list without duplicates.
json::array merge_scalars(json::array target, json::array patch) {
    std::unordered_set<std::string> seen;
    json::array merged;
    merged.reserve(target.size() + patch.size());
    for (json::array* part : {&target, &patch})
        for (json::value& item : *part)
            if (seen.insert(json::serialize(item)).second) merged.push_back(std::move(item));
    return merged;
}

/// A patch of a list of objects.
struct ItemChanges {
    json::array items;
    std::unordered_set<std::string> deleted;
    bool replaces = false;  ///< the whole list
};

Result<ItemChanges> read_changes(json::array patch, const ListIdentity& identity, FieldPath& path) {
    ItemChanges changes;
    for (std::size_t i = 0; i < patch.size(); ++i) {
        const json::object* object = patch[i].if_object();
        if (object == nullptr || !object->contains(kPatch)) {
            changes.items.push_back(std::move(patch[i]));
            continue;
        }
        const FieldPath::Step step(path, i);
        TRY(const Directive directive, directive_of(*object, path));
        if (directive == Directive::kDelete) {
            TRY(std::string id, require_identity(identity, patch[i], path));
            changes.deleted.insert(std::move(id));
        } else if (directive == Directive::kReplace) {
            // Alone it applies to the whole list; with other members it is one of the new items.
            changes.replaces = true;
            if (object->size() > 1) changes.items.push_back(std::move(patch[i]));
        } else {
            changes.items.push_back(std::move(patch[i]));
        }
    }
    return changes;
}

/// The items of a patch's list that remain afterwards.
json::array without_directives(const json::array& patch) {
    json::array kept;
    for (const json::value& item : patch) {
        const json::object* object = item.if_object();
        if (object == nullptr || !object->contains(kPatch)) kept.push_back(item);
    }
    return kept;
}

/// `$deleteFromPrimitiveList/<field>`.
Result<void> apply_deletions(json::object& target, std::string_view field,
                             const json::value& deletions, FieldPath& path) {
    const FieldPath::Step step(path, field);
    const json::array* values = deletions.if_array();
    if (values == nullptr) return bad_patch(path, "$deleteFromPrimitiveList must be a list");
    json::value* value = target.if_contains(field);
    json::array* list = value == nullptr ? nullptr : value->if_array();
    if (list == nullptr) return {};
    std::unordered_set<std::string> deleted;
    for (const json::value& item : *values) deleted.insert(json::serialize(item));
    json::array kept;
    for (json::value& item : *list)
        if (!deleted.contains(json::serialize(item))) kept.push_back(std::move(item));
    *list = std::move(kept);
    return {};
}

/// `$retainKeys`: the target keeps only these members.
Result<void> apply_retain_keys(json::object& target, const json::object& patch,
                               const FieldPath& path) {
    const json::value* retain = patch.if_contains(kRetainKeys);
    if (retain == nullptr) return {};
    const json::array* keys = retain->if_array();
    if (keys == nullptr) return bad_patch(path, "$retainKeys must be a list");
    std::unordered_set<std::string_view> retained;
    for (const json::value& key : *keys) {
        if (!key.is_string()) return bad_patch(path, "$retainKeys must be a list of strings");
        retained.insert(key.get_string());
    }
    for (const auto& entry : patch)
        if (!is_directive(entry.key()) && !entry.value().is_null() &&
            !retained.contains(entry.key()))
            return bad_patch(path, fmt::format("\"{}\" is set, but $retainKeys does not name it",
                                               std::string_view(entry.key())));
    json::object kept;
    for (auto& entry : target)
        if (retained.contains(entry.key())) kept.emplace(entry.key(), std::move(entry.value()));
    target = std::move(kept);
    return {};
}

/// The merge of one patch: where it is, and how much it may still repeat.
class StrategicMerge {
  public:
    Result<void> merge_object(json::object& target, json::object patch, const Schema* schema) {
        TRY(const Directive directive, directive_of(patch, path_));
        if (directive == Directive::kDelete) {
            target.clear();
            return {};
        }
        if (directive == Directive::kReplace) {
            patch.erase(kPatch);
            json::value settled = std::move(patch);
            settle(settled);
            target = std::move(settled.get_object());
            return {};
        }
        TRY_VOID(apply_retain_keys(target, patch, path_));

        // Orders first, since they remove their fields from the patch; deletions before additions,
        // so that a value in both stays.
        std::vector<std::pair<std::string, json::value>> orders;
        for (auto& entry : patch)
            if (std::string_view key = entry.key(); key.starts_with(kSetElementOrder))
                orders.emplace_back(key.substr(kSetElementOrder.size()), entry.value());
        for (const auto& [field, order] : orders)
            TRY_VOID(apply_element_order(target, patch, field, order, schema));
        for (const auto& entry : patch)
            if (std::string_view key = entry.key(); key.starts_with(kDeleteFromPrimitiveList))
                TRY_VOID(apply_deletions(target, key.substr(kDeleteFromPrimitiveList.size()),
                                         entry.value(), path_));
        std::unordered_set<std::string_view> erased;
        for (const auto& entry : patch)
            if (!is_directive(entry.key()) && entry.value().is_null()) erased.insert(entry.key());
        erase_members(target, erased);
        for (auto& entry : patch)
            if (!is_directive(entry.key()) && !entry.value().is_null())
                TRY_VOID(merge_member(target, entry.key(), std::move(entry.value()), schema));
        return {};
    }

  private:
    /// Merges one member of a patch, which is not null, into the member of that name.
    Result<void> merge_member(json::object& target, std::string_view key, json::value patch,
                              const Schema* schema) {
        const Schema* field = schema_of(schema, key);
        const FieldPath::Step step(path_, key);
        json::value* existing = target.if_contains(key);
        if (existing != nullptr && existing->is_object() && patch.is_object())
            return merge_object(existing->get_object(), std::move(patch.get_object()), field);
        if (existing != nullptr && existing->is_array() && patch.is_array() && merges(field)) {
            const json::array server = existing->get_array();
            const json::array wanted = without_directives(patch.get_array());
            TRY(json::array merged, merge_list(server, std::move(patch.get_array()), field));
            *existing = in_merge_order(std::move(merged), wanted, server, ListIdentity(field));
            return {};
        }
        if (settle(patch)) target.insert_or_assign(key, std::move(patch));
        return {};
    }

    /// The merged list, not yet in order.
    Result<json::array> merge_list(json::array target, json::array patch, const Schema* list) {
        const ListIdentity identity(list);
        if (identity.keyed())
            return merge_items(std::move(target), std::move(patch), *list, identity);
        for (std::size_t i = 0; i < patch.size(); ++i) {
            const FieldPath::Step step(path_, i);
            TRY_VOID(require_identity(identity, patch[i], path_));
        }
        return merge_scalars(std::move(target), std::move(patch));
    }

    /// Objects: each item of the patch is merged into the item with its key, or appended.
    Result<json::array> merge_items(json::array target, json::array patch, const Schema& list,
                                    const ListIdentity& identity) {
        TRY(ItemChanges changes, read_changes(std::move(patch), identity, path_));
        json::array& items = changes.items;
        if (changes.replaces) {
            json::value settled = std::move(items);
            settle(settled);
            return std::move(settled.get_array());
        }

        json::array merged;
        merged.reserve(target.size() + items.size());
        for (json::value& item : target)
            if (!changes.deleted.contains(identity.of(item))) merged.push_back(std::move(item));
        std::unordered_map<std::string, std::size_t> places;
        for (std::size_t i = 0; i < merged.size(); ++i) places.emplace(identity.of(merged[i]), i);
        std::vector<bool> changed(merged.size());
        for (std::size_t i = 0; i < items.size(); ++i) {
            const FieldPath::Step step(path_, i);
            TRY(std::string id, require_identity(identity, items[i], path_));
            const auto [place, added] = places.emplace(std::move(id), merged.size());
            if (added) {
                settle(items[i]);
                merged.push_back(std::move(items[i]));
                changed.push_back(true);
                continue;
            }
            json::value& existing = merged[place->second];
            if (changed[place->second]) TRY_VOID(merge_again(existing, place->first));
            changed[place->second] = true;
            if (!existing.is_object()) existing.emplace_object();
            TRY_VOID(merge_object(existing.get_object(), std::move(items[i].get_object()),
                                  list.items.get()));
        }
        return merged;
    }

    /// Whether the item, which the patch has changed already, may be changed once more.
    Result<void> merge_again(const json::value& item, std::string_view id) {
        constexpr std::size_t kMostShown = 200;
        const std::size_t size = text_size(item, left_);
        if (size > left_)
            return bad_patch(path_, fmt::format("the list names {} too often: what the patch "
                                                "merges into items again is more than {} bytes; "
                                                "name it once, with all that changes",
                                                cut_utf8(id, kMostShown), kMaxMergedAgain));
        left_ -= size;
        return {};
    }

    /// `$setElementOrder/<field>`: merges the field's lists and puts the result in that order.
    /// Removes the field from the patch.
    Result<void> apply_element_order(json::object& target, json::object& patch,
                                     std::string_view field, const json::value& order,
                                     const Schema* schema) {
        const FieldPath::Step step(path_, field);
        const json::array* wanted = order.if_array();
        if (wanted == nullptr) return bad_patch(path_, "$setElementOrder must be a list");
        const Schema* list = schema_of(schema, field);
        const ListIdentity identity(list);
        for (const json::value& item : *wanted) TRY_VOID(require_identity(identity, item, path_));

        json::value* before = target.if_contains(field);
        json::value* change = patch.if_contains(field);
        if (change != nullptr && change->is_null()) return {};  // the field is deleted
        if ((before != nullptr && !before->is_array() && !before->is_null()) ||
            (change != nullptr && !change->is_array()))
            return bad_patch(path_, "has an order, but is not a list");
        if (before == nullptr && change == nullptr) return {};
        const json::array server =
            before != nullptr && before->is_array() ? before->get_array() : json::array();
        json::array merged = server;
        if (change != nullptr) {
            const ListPositions positions(*wanted, identity);
            std::size_t last = 0;
            for (const json::value& item : without_directives(change->get_array())) {
                const std::size_t place = positions.of(identity.of(item));
                if (place == ListPositions::kNone || place < last)
                    return bad_patch(path_, "the order of the items differs from $setElementOrder");
                last = place;
            }
            json::array items = std::move(change->get_array());
            patch.erase(field);
            if (merges(list)) {
                TRY(merged, merge_list(std::move(merged), std::move(items), list));
            } else {
                json::value settled = std::move(items);
                settle(settled);
                merged = std::move(settled.get_array());
            }
        }
        target.insert_or_assign(field,
                                in_merge_order(std::move(merged), *wanted, server, identity));
        return {};
    }

    FieldPath path_{""};
    std::size_t left_ = kMaxMergedAgain;
};

}  // namespace

Result<json::value> apply_strategic_merge_patch(const json::value& target, const json::value& patch,
                                                const Schema& schema) {
    json::value result = target;
    TRY_VOID(strategic_merge_patch_into(result, patch, schema));
    return result;
}

Result<void> strategic_merge_patch_into(json::value& target, const json::value& patch,
                                        const Schema& schema) {
    if (!patch.is_object())
        return Error(Code::kBadRequest, "a strategic merge patch must be an object");
    if (!target.is_object())
        return Error(Code::kBadRequest, "only an object can be patched by strategic merge");
    return StrategicMerge().merge_object(target.get_object(), patch.get_object(), &schema);
}

}  // namespace muster::kube
