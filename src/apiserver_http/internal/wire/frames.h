#pragma once

#include <string>
#include <string_view>

#include "kube/transport/transport.h"

namespace muster::apiserver_http {

/// Appends one line of a watch: {"type":"ADDED","object":{...}}.
void append_frame(std::string& lines, kube::WatchEventType type, std::string_view object);

}  // namespace muster::apiserver_http
