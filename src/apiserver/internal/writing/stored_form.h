#pragma once

#include "apiserver/internal/server_state.h"
#include "apiserver/requests/status_error.h"
#include "kube/values/document.h"

namespace muster::apiserver {

// The last steps before an object is in the store: its size, its version, its revision.

/// 413 for a new object of more than 3 MiB, as much as a body may have: defaults, patches and owners
/// of fields make no more of an object.
StatusResult<void> check_size(const json::value& object);
/// The same for what a change makes of `current`. What is too large already may still be changed
/// and deleted.
StatusResult<void> check_size(const json::value& next, const json::value& current);

/// The result of a write through the definition's version in the stored form.
Task<StatusResult<kube::Document>> to_be_stored(ServerState& state, DefPtr def,
                                                kube::Document written);
/// Makes the committed object: the same value with the revision that it got.
store::Store::Make with_revision(kube::Document object);

}  // namespace muster::apiserver
