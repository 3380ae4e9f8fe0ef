#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <string>

#include "base/result.h"
#include "kube/patch/field_set.h"
#include "kube/values/json.h"

namespace muster::kube {

class Schema;

// metadata.managedFields: who owns which field. An entry stands for one manager, operation,
// subresource and, unless it applies, apiVersion; its fields are FieldsV1. Pure functions.
//
// The lists that are changed in place are well-formed: what a client sends goes through
// read_managed_fields() first.

/// Who writes, and when.
struct FieldOwner {
    std::string name;
    std::string api_version;
    std::string subresource;  ///< empty: the object itself
    std::string time;         ///< as format_time() writes it
};

/// What a write may not own: paths whose subtrees are left out.
using IgnoredFields = FieldSet;

/// The list means "forget who owns what": it is empty, or all it has is one empty entry.
bool resets_managed_fields(const json::array& entries);

/// A list that a client sent, in canonical form: entries sorted, FieldsV1 sorted and without
/// repeats, nothing but what belongs into an entry. kBadRequest when it can't be understood.
Result<json::array> read_managed_fields(const json::array& sent, json::storage_ptr storage = {});

/// The list of an object that is new: all of it belongs to `who`, except metadata itself.
json::array record_creation(const Schema* schema, const json::value& object,
                            const IgnoredFields& ignored, const FieldOwner& who,
                            json::storage_ptr storage = {});

/// After a write that is not an apply turned `before` into `after`: what it changed belongs to `who`
/// alone, what it removed to nobody. Of more than ten managers that update, the oldest become one,
/// "ancient-changes". False if nothing changed.
bool record_write(json::array& entries, const Schema* schema, const json::value& before,
                  const json::value& after, const IgnoredFields& ignored, const FieldOwner& who);

struct ApplyOptions {
    bool force = false;
    /// Conflicts about these alone are no conflicts.
    FieldSet tolerated = {};
};

/// Server-side apply. Merges the configuration into `live` and removes from it what the manager
/// applied before, no longer does, and nobody else owns; `entries` are changed accordingly. Without
/// entries, what is there belongs to "before-first-apply". `live` carries no managedFields.
///
/// kConflict, with upstream's message and causes, when somebody else owns a field and another value
/// is applied, unless it is forced: then the others lose it. kInternal for a configuration that
/// does not fit the schema. After an error both may be half changed.
Result<void> apply_fields(json::array& entries, const Schema* schema, json::value& live,
                          const json::value& configuration, const IgnoredFields& ignored,
                          const FieldOwner& who, const ApplyOptions& options);

}  // namespace muster::kube
