#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/requests/status_error.h"

namespace muster::apiserver_http {

/// A request target, decoded: "/api/v1/pods?labelSelector=a%3Db".
struct Url {
    std::string path;  ///< segments decoded, none of them empty, "." or "..": "/api/v1/pods"
    std::vector<std::pair<std::string, std::string>> query;
};

/// Refuses everything that the next reader could take for another path: an encoded slash or NUL, a
/// segment "." or "..", a broken escape, bytes that are not UTF-8. Repeated and trailing slashes
/// are dropped.
apiserver::StatusResult<Url> parse_url(std::string_view target);

/// For a path in the old form of a watch, "/api/v1/watch/pods" or "/apis/GROUP/VERSION/watch/...":
/// changes it to that of the collection, and returns true.
bool take_watch_prefix(std::string& path);

}  // namespace muster::apiserver_http
