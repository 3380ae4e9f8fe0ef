#pragma once

#include <boost/json/value.hpp>
#include <optional>
#include <string>

#include "apiserver/internal/writing/field_tracking.h"
#include "apiserver/requests/decoding.h"
#include "apiserver/requests/status_error.h"
#include "apiserver/resources/resource_def.h"
#include "store/object_text.h"

namespace muster::apiserver {

/// What happens to a stored object.
struct NextState {
    enum class Kind { kKeep, kReplace, kRemove };
    Kind kind = Kind::kKeep;
    kube::Document object = {};  ///< of kReplace; its resourceVersion is set when it is committed
    /// Of kRemove: the last state to show, if it differs from the stored one.
    kube::ObjectPtr last = nullptr;
    /// Of a removal by an update: the object as it asked for it, which is its answer.
    store::ObjectTextPtr answer = nullptr;
    /// Of kReplace: 422 with everything that is wrong with the object. It counts unless mutating
    /// webhooks, which see the object first, put it right.
    std::optional<StatusError> refusal = {};
};

enum class WriteKind { kUpdate, kPatch };

/// Decides a PUT or the outcome of a PATCH: `proposed` against `current`. Pure. Takes from storage
/// what the request may not change, raises the generation, validates, and determines whether there
/// is anything to write; records the changes in managedFields. Removing the last finalizer removes
/// a deleted object.
StatusResult<NextState> decide_update(const ResourceDef& def, const json::value& current,
                                      DecodedObject proposed, const std::string& subresource,
                                      WriteKind write, const Ownership& ownership);

/// For the server's own writes: raises the generation, compares, removes the object if it is ready
/// for that.
NextState settle(const ResourceDef& def, const json::value& current, kube::Document next);

/// 422 with everything that is wrong with an object to be created.
StatusResult<void> validate_new(const ResourceDef& def, const DecodedObject& decoded);

}  // namespace muster::apiserver
