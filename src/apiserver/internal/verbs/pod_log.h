#pragma once

#include <boost/json/object.hpp>

#include "apiserver/requests/status_error.h"
#include "base/time/clock.h"
#include "kube/client/client.h"

namespace muster::apiserver {

/// The options of GET pods/NAME/log, checked, with the container that they mean filled in. `pod`
/// is the stored object.
StatusResult<kube::LogOptions> log_options(const kube::Request& request, const json::object& pod,
                                           WallTime now);

}  // namespace muster::apiserver
