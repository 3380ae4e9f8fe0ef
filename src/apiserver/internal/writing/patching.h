#pragma once

#include "apiserver/requests/decoding.h"
#include "apiserver/requests/status_error.h"
#include "kube/transport/transport.h"

namespace muster::apiserver {

/// Media type and size, before anything is looked up. `applies`: the server does server-side apply.
StatusResult<void> check_patch_type(const ResourceDef& def, kube::ContentType type,
                                    const json::value& patch, bool applies);

/// The object that a patch makes of the current one, in the version of `def`; of a status patch
/// only what may change.
StatusResult<DecodedObject> apply_patch(const ResourceDef& def, const json::value& current,
                                        const std::string& subresource, kube::ContentType type,
                                        const json::value& patch,
                                        kube::FieldValidation field_validation);

}  // namespace muster::apiserver
