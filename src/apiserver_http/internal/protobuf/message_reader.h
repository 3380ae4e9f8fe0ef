#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "apiserver_http/internal/protobuf/message_catalog.h"
#include "base/result.h"
#include "kube/values/json.h"

namespace muster::apiserver_http {

/// Adds the fields of a message to an object, as Go would write them as JSON: zero values are left
/// out where Go leaves them out, and field numbers that the type does not know are skipped. Errors
/// are kBadRequest and name the field and the offset from the start of `whole`, of which `message`
/// is a part.
Result<void> read_message(const MessageType& type, std::string_view message, std::string_view whole,
                          json::object& out);

}  // namespace muster::apiserver_http
