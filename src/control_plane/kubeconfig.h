#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/values/json.h"
#include "net/tls/certificates.h"

namespace muster::control_plane {

/// How a user's clients reach and authenticate to a server.
struct KubeAccess {
    std::string server;  ///< "https://127.0.0.1:6443"
    std::string ca_pem;
    std::string token;
    std::optional<net::KeyPair> client = {};  ///< shown in addition to the token
};

/// A kubeconfig with one context, `muster`, which is the current one.
json::object make_kubeconfig(const KubeAccess& access);

/// `existing`, the text of a kubeconfig (may be empty), with the cluster, user and context of
/// `make_kubeconfig()` added or replacing those of the same names, and that context as the current
/// one; the rest of the text stays as it is, comments included. kInvalid if the text is not a
/// kubeconfig, or can't be changed without losing something; kAlreadyExists if it has a cluster of
/// that name that is not a server of ours, or a context or user of that name for another cluster.
Result<std::string> merge_kubeconfig(std::string_view existing, const KubeAccess& access);

}  // namespace muster::control_plane
