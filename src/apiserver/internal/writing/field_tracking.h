#pragma once

#include <boost/json/value.hpp>

#include "apiserver/requests/status_error.h"
#include "apiserver/resources/resource_def.h"
#include "kube/patch/managed_fields.h"

namespace muster::apiserver {

/// How a write is entered into metadata.managedFields.
struct Ownership {
    enum class Kind {
        kUntracked,  ///< not at all: what a client sends is stored
        kWrite,      ///< what the write changes belongs to the manager
        kApplied,    ///< the proposed object carries the entries that its apply made
    };
    Kind kind = Kind::kUntracked;
    kube::FieldOwner manager = {};
};

/// What a write through the object's own path or one of its subresources can't own: what the
/// system sets, and what the path does not write.
const kube::IgnoredFields& ignored_fields(const ResourceDef& def, std::string_view subresource);

/// A new object belongs to who creates it, its defaults included. Entries that were sent are
/// dropped.
void track_creation(const ResourceDef& def, json::value& object, const kube::FieldOwner& manager);

/// Enters what `next` changes of `stored`. Entries in `next` that differ from the stored ones
/// replace them first, unless a subresource is written; an empty list or one empty entry ends the
/// tracking of the object. An object without entries is not tracked before somebody applies.
/// kInvalid, with the field as its cause, for entries that can't be understood.
StatusResult<void> track_write(const ResourceDef& def, const json::value& stored, json::value& next,
                               const kube::FieldOwner& manager);

}  // namespace muster::apiserver
