#pragma once

#include <boost/json/object.hpp>

#include "apiserver/requests/status_error.h"
#include "kube/objects/command_session.h"
#include "kube/transport/transport.h"

namespace muster::apiserver_http {

/// The validated options of pods/NAME/exec (with a command) or attach, with the container filled
/// in. `pod` is the stored object.
apiserver::StatusResult<kube::CommandOptions> command_options(const kube::Request& request,
                                                              const json::object& pod,
                                                              bool with_command);

}  // namespace muster::apiserver_http
