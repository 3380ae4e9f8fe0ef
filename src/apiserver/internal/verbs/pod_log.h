#pragma once

#include <boost/json/object.hpp>

#include "apiserver/requests/status_error.h"
#include "base/time/clock.h"
#include "kube/client/client.h"

namespace muster::apiserver {

/// The validated options of GET pods/NAME/log, with the container filled in. `pod` is the stored
/// object.
StatusResult<kube::LogOptions> log_options(const kube::Request& request, const json::object& pod,
                                           WallTime now);

}  // namespace muster::apiserver
