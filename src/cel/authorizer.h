#pragma once

#include <compare>
#include <memory>
#include <optional>
#include <string>

#include "cel/value.h"

namespace muster::cel {

/// What an expression asks of `authorizer`: may someone do this, on a resource or on a path?
struct AuthorizationQuestion {
    std::string
        account_namespace;  ///< with `account`: a service account; else who sent the request
    std::string account = {};
    std::string path = {};
    std::string group = {};
    std::string resource = {};
    std::string subresource = {};
    std::string namespace_ = {};
    std::string name = {};
    std::string field_selector = {};
    std::string label_selector = {};
    std::string verb = {};

    friend auto operator<=>(const AuthorizationQuestion&, const AuthorizationQuestion&) = default;
};

struct AuthorizationAnswer {
    bool allowed = false;
    std::string reason;
    std::string error;  ///< "": none
};

/// Who answers. It outlives the values that were made with it.
class Authorizer {
  public:
    virtual ~Authorizer() = default;
    /// Nothing: the answer is not known here; the evaluation ends, as if over its limit.
    virtual std::optional<AuthorizationAnswer> answer(const AuthorizationQuestion& question) = 0;
};

/// The variable `authorizer`.
Value authorizer_value(Authorizer& authorizer);
/// `authorizer.requestResource`: a check of that resource.
Value resource_check_value(Authorizer& authorizer, AuthorizationQuestion resource);

}  // namespace muster::cel
