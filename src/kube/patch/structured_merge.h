#pragma once

#include <boost/json/value.hpp>

#include "base/result.h"
#include "kube/patch/field_set.h"
#include "kube/values/json.h"

namespace muster::kube {

class Schema;

// What structured-merge-diff does to typed values. A schema says how a value is divided: an object
// into its fields, and a list with keys or of type set into its items, unless it is atomic; an
// atomic list or object is one leaf, like a scalar. Without a schema (null, or one of type kAny)
// objects are divided and lists are atomic. A list with an item that can't be identified, and a
// value that does not have its schema's type, is a leaf. Pure functions.

/// What one state has added, changed or removed compared with another. Each path is in at most one
/// set.
struct FieldChanges {
    FieldSet added;
    FieldSet modified;
    FieldSet removed;

    bool empty() const { return added.empty() && modified.empty() && removed.empty(); }
};

/// Both are objects. Anything at or below a member of `ignored` is skipped.
FieldChanges compare_fields(const Schema* schema, const json::value& before,
                            const json::value& after, const FieldSet& ignored = {});

/// What compare_fields() finds added to an object with nothing but empty `metadata`, as FieldsV1:
/// what the creator of `object` owns. With `unset`, an object of the kind in which nothing is set,
/// only what is not as it is there: structs that Go always writes are no one's. Every new object is written this way, and an intermediate set
/// would cost more than everything else that is done to it.
json::object new_fields_of(const Schema* schema, const json::value& object, const FieldSet& ignored,
                           const json::value* unset = nullptr, json::storage_ptr storage = {});

/// The fields that an applied configuration sets: its leaves, the items of its lists, and the keys
/// of its maps. An object or a list that is a field by its schema is not a member of its own, but
/// for an empty object. An empty list without an owner is owned by no one.
FieldSet field_set_of(const Schema* schema, const json::value& configuration);

/// kInternal, as on a real server, for a field that the schema does not know, and for a list whose
/// items have equal or no keys: such a configuration can't be merged.
Result<void> check_mergeable(const Schema* schema, const json::value& configuration);

/// Merges a configuration that passed check_mergeable() into a live value: objects recursively,
/// lists by their items, leaves replaced. Items that only the live list has stay before the next
/// item that both have; otherwise the order is the configuration's, and its new items come after
/// those that only the live list has.
void merge_fields(const Schema* schema, json::value& live, const json::value& configuration);

/// Removes the members of the set from a value. A container of which nothing is left becomes null.
void remove_fields(const Schema* schema, json::value& value, const FieldSet& fields);

/// The set, with every field that the schema names added as a member if anything below it is one.
FieldSet with_named_fields(const Schema* schema, const FieldSet& set);

}  // namespace muster::kube
