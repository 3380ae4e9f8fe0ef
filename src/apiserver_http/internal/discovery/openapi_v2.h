#pragma once

#include <boost/json/object.hpp>
#include <span>
#include <string>

#include "kube/values/json.h"

namespace muster::apiserver_http {

// OpenAPI v2 for clients older than v3: one document, made from those of v3. What v2 can't express
// (alternatives) is left out, as upstream does. Pure.

/// `documents`: the v3 document of each group version.
json::object openapi_v2(std::span<const json::value> documents);

inline constexpr std::string_view kOpenApiV2Protobuf =
    "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// The same in protobuf (gnostic's openapi.v2.Document), which Go clients ask for: the definitions,
/// and from the paths only which operation takes which parameter.
std::string openapi_v2_protobuf(const json::object& document);

}  // namespace muster::apiserver_http
