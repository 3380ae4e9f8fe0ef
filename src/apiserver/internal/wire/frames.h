#pragma once

#include <string>
#include <string_view>

#include "kube/transport/transport.h"

namespace muster::apiserver {

/// Appends the JSON text of a value.
void append_json(std::string& text, const json::value& value);

/// Appends one line of a watch: {"type":"ADDED","object":{...}}.
void append_frame(std::string& lines, kube::WatchEventType type, std::string_view object);

}  // namespace muster::apiserver
