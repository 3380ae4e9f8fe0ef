#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "apiserver/internal/writing/field_tracking.h"
#include "apiserver/requests/decoding.h"
#include "apiserver/requests/status_error.h"
#include "apiserver/resources/resource_def.h"

namespace muster::apiserver {

/// What becomes of a stored object.
struct NextState {
    enum class Kind { kKeep, kReplace, kRemove };
    Kind kind = Kind::kKeep;
    kube::Document object = {};  ///< of kReplace; its resourceVersion is set when it is committed
    /// Of kRemove: how the object is shown last, where that is not as it is stored.
    kube::ObjectPtr last = nullptr;
};

enum class WriteKind { kUpdate, kPatch };

/// Decides a PUT or the outcome of a PATCH: `proposed` against `current`. Pure. Takes from storage
/// what the request may not change, raises the generation, validates, and finds out whether there
/// is anything to write; enters what the write changes into managedFields. The last finalizer's
/// removal removes a deleted object.
StatusResult<NextState> decide_update(const ResourceDef& def, const json::value& current,
                                      DecodedObject proposed, const std::string& subresource,
                                      WriteKind write, const Ownership& ownership);

/// For the server's own writes: raises the generation, compares, removes what is ready to go.
NextState settle(const ResourceDef& def, const json::value& current, kube::Document next);

/// 422 for everything that is wrong with an object to be created.
StatusResult<void> validate_new(const ResourceDef& def, const DecodedObject& decoded);

}  // namespace muster::apiserver
