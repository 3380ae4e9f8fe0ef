#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "base/result.h"
#include "kube/values/json.h"

namespace muster::apiserver_http {

/// The media type of such bodies.
inline constexpr std::string_view kProtobufType = "application/vnd.kubernetes.protobuf";

/// The object in a body from a Go client: the bytes "k8s\0" and a runtime.Unknown around a message
/// of one of the kinds that the message tables describe. The result reads as if the client had sent
/// JSON: apiVersion and kind come from the envelope, fields with Go's zero value are left out
/// unless they are pointers there, bytes are base64. Fields that the tables do not know are
/// skipped.
///
/// kUnsupported for a kind without a table; kBadRequest, with the field and the offset, for a
/// message that is truncated, nested too deeply or otherwise not well-formed. Pure, any thread.
Result<json::object> decode_protobuf(std::string_view body);

}  // namespace muster::apiserver_http
