#pragma once

#include <boost/json/value.hpp>
#include <memory>

#include "apiserver/requests/status_error.h"
#include "apiserver/resources/resource_def.h"
#include "kube/patch/managed_fields.h"

namespace muster::apiserver {

class OwnerViews;

/// How a write is recorded in metadata.managedFields.
struct Ownership {
    enum class Kind {
        kUntracked,  ///< not at all: the entries that a client sends are stored
        kWrite,      ///< the manager owns what the write changes
        kApplied,    ///< the proposed object has the entries that its apply made
    };
    Kind kind = Kind::kUntracked;
    kube::FieldOwner manager = {};
    /// Of a kind that a webhook converts; null: fields have the same names in all versions.
    std::shared_ptr<OwnerViews> views = nullptr;
};

/// The fields that a write through the object's own path or one of its subresources can't own:
/// those that the system sets, and those that the path does not write.
const kube::IgnoredFields& ignored_fields(const ResourceDef& def, std::string_view subresource);

/// Whether a write to the status leaves the labels as they are.
bool keeps_labels(const ResourceDef& def);

/// The creator owns all of a new object, including its defaults. Entries that were sent are
/// dropped.
void track_creation(const ResourceDef& def, json::value& object, const kube::FieldOwner& manager);

/// Records what `next` changes of `stored`. Entries in `next` that differ from the stored ones
/// replace them first, unless a subresource is written; an empty list or one empty entry ends the
/// tracking of the object. An object without entries is not tracked before its first apply.
/// kInvalid, with the field as its cause, for entries that can't be understood.
StatusResult<void> track_write(const ResourceDef& def, const json::value& stored, json::value& next,
                               const Ownership& ownership);

/// A copy of the managedFields; null if there are none.
json::value owners_of(const json::value& object);
/// Puts back managedFields that webhooks have made unreadable, with a warning.
void mend_owners(json::object& object, const json::value& before,
                 std::vector<std::string>& warnings);

}  // namespace muster::apiserver
