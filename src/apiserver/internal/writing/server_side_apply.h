#pragma once

#include <boost/json/value.hpp>

#include "apiserver/internal/writing/field_tracking.h"
#include "apiserver/requests/decoding.h"
#include "apiserver/requests/request_options.h"
#include "apiserver/requests/router.h"
#include "apiserver/requests/status_error.h"

namespace muster::apiserver {

// Server-side apply. Pure decisions: the effect of an applied configuration on an object and its
// managedFields.

/// 400 for a configuration that is about something other than the target, or that has
/// managedFields.
StatusResult<void> check_configuration(const Target& target, const json::value& configuration);

/// The current object with the configuration merged into it, in the version of the target. Refuses
/// conflicts (409), and fields that the schema does not know (500, as a real server does).
StatusResult<DecodedObject> apply_configuration(const Target& target, const json::value& current,
                                                const json::value& configuration,
                                                const Ownership& ownership,
                                                const WriteQuery& query);

/// The object that the configuration creates if there was none.
StatusResult<DecodedObject> new_from_configuration(const Target& target,
                                                   const json::value& configuration,
                                                   const Ownership& ownership,
                                                   const WriteQuery& query);

/// The replicas of a Scale that is applied; zero if it does not say.
StatusResult<std::int64_t> applied_replicas(const Target& target, const json::value& current,
                                            const json::value& scale);

}  // namespace muster::apiserver
