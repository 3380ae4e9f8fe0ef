#pragma once

#include "apiserver/authorization/authorization.h"
#include "apiserver/resources/registry.h"

namespace muster::apiserver {

/// Owners decide when an object goes and when they go themselves, so that naming them needs what
/// the same would need without them (as with the plugin OwnerReferencesPermissionEnforcement of a
/// cluster):
///
/// - who gives an object that is there other owners may have it collected: that needs the verb
///   `delete` on it. Letting go of all owners needs nothing, nor does a new object;
/// - `blockOwnerDeletion` keeps the owner, as a finalizer does: that needs the verb `update` on the
///   owner, or on its subresource `finalizers`. An owner of a kind that is not served needs
///   nothing.
///
/// 403 otherwise. `before` is null for a new object.
StatusResult<void> check_ownership(const WatchCache& cache, const Registry& registry,
                                   const User& author, const Target& target,
                                   const json::object* before, const json::object& after);

}  // namespace muster::apiserver
