#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/authentication/service_account_name.h"
#include "apiserver/authentication/token_rules.h"
#include "base/result.h"
#include "base/time/clock.h"
#include "kube/values/json.h"

namespace muster::apiserver {

/// An object of the account's namespace, or a node.
struct NamedObject {
    std::string name;
    std::string uid;

    friend bool operator==(const NamedObject&, const NamedObject&) = default;
};

/// The claims of a service account's token.
struct AccountToken {
    std::string issuer{kTokenIssuer};
    ServiceAccountName account;
    std::string account_uid;
    /// Objects whose deletion invalidates the token: the pod or secret, and the node.
    std::optional<NamedObject> pod = {};
    std::optional<NamedObject> secret = {};
    std::optional<NamedObject> node = {};
    std::vector<std::string> audiences;
    std::string id;
    WallTime issued;
    WallTime expires;
};

json::object claims_of(const AccountToken& token);

/// kUnauthorized unless the claims are complete and valid at `now`. Does not check who the issuer is,
/// and whether the objects still exist.
Result<AccountToken> read_claims(const json::object& claims, WallTime now);

}  // namespace muster::apiserver
