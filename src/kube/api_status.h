#pragma once

#include <boost/json/value.hpp>

#include "base/result.h"
#include "kube/json.h"

namespace muster::kube {

/// What a Status object adds to an Error: which object the failure is about.
struct StatusDetails {
    std::string name;
    std::string group;
    std::string kind;  ///< plural resource, or the Kind for Invalid
    std::string uid;
};

/// The one table between error codes, Status reasons and HTTP codes.
int http_status(Code code);
std::string_view status_reason(Code code);

/// The `kind: Status` object of a failure.
json::value status_from_error(const Error& error, const StatusDetails& details = {});
/// The Error that a Status object (or any other body of a failed response) stands for.
Error error_from_status(int http_code, const json::value& body);

}  // namespace muster::kube
