#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http/http.h"

namespace muster::control_plane {

/// Where a request of a webhook's client goes.
struct HttpPlace {
    bool tls = true;
    std::string host;  ///< an IPv6 address without its brackets
    std::uint16_t port = 443;
    std::string target;  ///< path and query, as sent

    friend bool operator==(const HttpPlace&, const HttpPlace&) = default;
};

/// Where a Location leads that `from` answered with, as Go's net/url resolves it.
Result<HttpPlace> redirected(const HttpPlace& from, std::string_view location);

/// How Go's net/http continues after an answer: with the same request at another place, with a GET
/// there, or not at all.
enum class Redirect { kNone, kSame, kGet };
Redirect redirect_of(unsigned status);

/// The body of a successful answer; otherwise what client-go says of it.
Result<std::string> body_or_failure(net::HttpResponse answer);

}  // namespace muster::control_plane
