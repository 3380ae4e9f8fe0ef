#pragma once

#include <boost/json/value.hpp>

#include "apiserver/internal/writing/field_tracking.h"
#include "apiserver/requests/decoding.h"
#include "apiserver/requests/request_options.h"
#include "apiserver/requests/router.h"
#include "apiserver/requests/status_error.h"

namespace muster::apiserver {

// Server-side apply. Pure decisions: what an applied configuration makes of an object, and of its
// managedFields.

/// 400 for a configuration that is about something else than the target, or that carries
/// managedFields.
StatusResult<void> check_configuration(const Target& target, const json::value& configuration);

/// The current object with the configuration merged into it, in the version of the target. Refuses
/// conflicts (409), and what the schema does not know (500, as a real server does).
StatusResult<DecodedObject> apply_configuration(const Target& target, const json::value& current,
                                                const json::value& configuration,
                                                const kube::FieldOwner& manager,
                                                const WriteQuery& query);

/// The object that the configuration makes where there was none.
StatusResult<DecodedObject> new_from_configuration(const Target& target,
                                                   const json::value& configuration,
                                                   const kube::FieldOwner& manager,
                                                   const WriteQuery& query);

/// What a Scale that is applied says about the object that it scales.
StatusResult<json::value> configuration_of_scale(const Target& target, const json::value& current,
                                                 const json::value& scale);

}  // namespace muster::apiserver
