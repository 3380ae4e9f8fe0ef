#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/values/json.h"

namespace muster::kube {

/// What a Status object adds to an Error: the object that the failure is about.
struct StatusDetails {
    std::string name;
    std::string group;
    std::string kind;  ///< plural resource, or the Kind for Invalid
    std::string uid;

    friend bool operator==(const StatusDetails&, const StatusDetails&) = default;
};

/// The table between error codes, Status reasons and HTTP codes. A client never sees kCancelled as
/// such: it gets Timeout, since the request may or may not have had its effect.
int http_status(Code code);
std::string_view status_reason(Code code);

/// The `kind: Status` object of a failure. Delays are rounded up to whole seconds.
json::value status_from_error(const Error& error, const StatusDetails& details = {});

/// The Error that a Status object (or any other body of a failed response) stands for. The reason
/// decides; without a known one the HTTP code does. For the ERROR event of a watch, which has no
/// code of its own, pass 0: the Status carries it.
Error error_from_status(int http_code, const json::value& body);
/// No server answered, or only a gateway: the request may or may not have had its effect.
bool is_unanswered(const Error& error);
/// The server does not answer or does not let us in: no other request would succeed now, but the
/// same one may later.
bool is_away(const Error& error);

}  // namespace muster::kube
