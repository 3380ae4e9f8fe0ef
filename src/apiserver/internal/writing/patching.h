#pragma once

#include "apiserver/requests/decoding.h"
#include "apiserver/requests/status_error.h"
#include "kube/transport/transport.h"

namespace muster::apiserver {

/// Checks media type and size before anything is looked up. `applies`: the server supports
/// server-side apply.
StatusResult<void> check_patch_type(const ResourceDef& def, kube::ContentType type,
                                    const json::value& patch, bool applies);

/// The result of a patch of the current object, in the version of `def`; for a status patch, only
/// the changes that it may make.
StatusResult<DecodedObject> apply_patch(const ResourceDef& def, const json::value& current,
                                        const std::string& subresource, kube::ContentType type,
                                        const json::value& patch,
                                        kube::FieldValidation field_validation);

}  // namespace muster::apiserver
