#pragma once

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <string>

#include "base/result.h"
#include "kube/patch/field_set.h"
#include "kube/values/json.h"

namespace muster::kube {

class OwnerVersions;
class Schema;

// metadata.managedFields: who owns which field. Each entry is for one manager, operation,
// subresource and, unless it applies, apiVersion; its fields are FieldsV1. Pure functions.
//
// The lists that are changed in place are well-formed: input from a client goes through
// read_managed_fields() first.

/// Who writes, and when.
struct FieldOwner {
    std::string name;
    std::string api_version;
    std::string subresource;  ///< empty: the object itself
    std::string time;         ///< as format_time() writes it
};

/// Paths that a write may not own; their subtrees are left out.
using IgnoredFields = FieldSet;

/// Whether the list means "forget who owns what": it is empty or has only one empty entry.
bool resets_managed_fields(const json::array& entries);

/// A list from a client in canonical form: entries sorted, FieldsV1 sorted and without duplicates,
/// nothing that does not belong in an entry. kBadRequest if it can't be understood.
Result<json::array> read_managed_fields(const json::array& sent, json::storage_ptr storage = {});

/// The list of a new object: all of it belongs to `who`, except metadata itself and what is as in
/// `unset`, an object of the kind in which nothing is set (null: it is empty).
json::array record_creation(const Schema* schema, const json::value& object,
                            const IgnoredFields& ignored, const FieldOwner& who,
                            const json::value* unset = nullptr, json::storage_ptr storage = {});

/// After a write other than an apply turned `before` into `after`: `who` becomes the only owner of
/// what it changed, and what it removed has no owner. Of more than ten managers that update, the
/// oldest are merged into one, "ancient-changes". False if nothing changed. `versions`: of a kind
/// whose versions differ in structure; null: fields have the same names in all.
bool record_write(json::array& entries, const Schema* schema, const json::value& before,
                  const json::value& after, const IgnoredFields& ignored, const FieldOwner& who,
                  OwnerVersions* versions = nullptr);

struct ApplyOptions {
    bool force = false;
    /// Conflicts about these fields don't count.
    FieldSet tolerated = {};
    OwnerVersions* versions = nullptr;   ///< as in record_write()
    const json::value* unset = nullptr;  ///< as in record_creation()
};

/// Server-side apply. Merges the configuration into `live` and removes from it the fields that the
/// manager applied before, no longer applies, and no one else owns; updates `entries` accordingly. An
/// apply that changes nothing has no time of its own.
/// If there are no entries, the present fields belong to "before-first-apply". `live` has no
/// managedFields.
///
/// kConflict, with upstream's message and causes, if someone else owns a field and another value is
/// applied, unless it is forced: then the others lose the field. kInternal for a configuration that
/// does not fit the schema. After an error both may be half changed.
Result<void> apply_fields(json::array& entries, const Schema* schema, json::value& live,
                          const json::value& configuration, const IgnoredFields& ignored,
                          const FieldOwner& who, const ApplyOptions& options);

}  // namespace muster::kube
