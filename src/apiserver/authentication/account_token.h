#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/authentication/service_account_name.h"
#include "base/result.h"
#include "base/time/clock.h"
#include "kube/values/json.h"

namespace muster::apiserver {

/// Who issues the tokens of service accounts, and for whom they are unless something else is asked.
inline constexpr std::string_view kTokenIssuer = "https://kubernetes.default.svc.cluster.local";

/// An object of the account's namespace, or a node.
struct NamedObject {
    std::string name;
    std::string uid;

    friend bool operator==(const NamedObject&, const NamedObject&) = default;
};

/// What the token of a service account says.
struct AccountToken {
    ServiceAccountName account;
    std::string account_uid;
    /// It ends with these: with the pod or secret, and with the node.
    std::optional<NamedObject> pod = {};
    std::optional<NamedObject> secret = {};
    std::optional<NamedObject> node = {};
    std::vector<std::string> audiences;
    std::string id;
    WallTime issued;
    WallTime expires;
};

json::object claims_of(const AccountToken& token);

/// kUnauthorized unless the claims are whole, of this issuer, and good at `now`. Whether the
/// objects are still there is not looked at.
Result<AccountToken> read_claims(const json::object& claims, WallTime now);

}  // namespace muster::apiserver
