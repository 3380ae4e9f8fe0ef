#pragma once

#include <string>
#include <string_view>

#include "apiserver/aggregation/extension_servers.h"
#include "base/result.h"

namespace muster::apiserver {

// What the documents of an extension server say. They are as large and as odd as it likes; what is
// taken from them is checked and bounded. Pure.

/// From an APIResourceList, the answer to /apis/GROUP/VERSION. kInvalid, with the reason, for
/// anything else.
Result<DiscoveredVersion> read_resource_list(std::string_view text);

/// From the index of its OpenAPI v3 documents: the URL of that for the version, empty if it names
/// none.
std::string openapi_url_in(std::string_view index, const ExtensionServer& server);

}  // namespace muster::apiserver
