#pragma once

#include <vector>

#include "apiserver/internal/server_state.h"
#include "apiserver/requests/status_error.h"
#include "apiserver/resources/resource_def.h"
#include "kube/values/document.h"
#include "store/object_text.h"

namespace muster::apiserver {

// Objects in other versions of their resource, also where a webhook has to be asked for them. It is
// asked about objects of another version only. `state` outlives each call.

/// Objects in the definition's version. Asked in batches, of which the first that fails is the error.
Task<StatusResult<std::vector<store::ObjectTextPtr>>> show_all(
    ServerState& state, DefPtr def, std::vector<store::ObjectTextPtr> objects);
Task<StatusResult<store::ObjectTextPtr>> show(ServerState& state, DefPtr def,
                                              store::ObjectTextPtr object);

/// A stored object as a write through the definition's version meets it, and the result of such a
/// write in the stored form.
Task<StatusResult<kube::ObjectPtr>> meet(ServerState& state, DefPtr def,
                                         store::ObjectTextPtr stored);
Task<StatusResult<kube::Document>> put_away(ServerState& state, DefPtr def, kube::Document written);

/// An object of a write through `from` as one of `to`, another version of the same resource.
Task<StatusResult<kube::Document>> convert(ServerState& state, DefPtr from, DefPtr to,
                                           const json::value& object);

}  // namespace muster::apiserver
