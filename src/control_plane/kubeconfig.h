#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/values/json.h"
#include "net/tls/certificates.h"

namespace muster::control_plane {

/// How a person's clients reach a server and who they are there.
struct KubeAccess {
    std::string server;  ///< "https://127.0.0.1:6443"
    std::string ca_pem;
    std::string token;
    std::optional<net::KeyPair> client = {};  ///< shown besides the token
};

/// A kubeconfig with one context, `muster`, which is the current one.
json::object make_kubeconfig(const KubeAccess& access);

/// `existing`, the text of a kubeconfig (empty: none yet), with the cluster, the user and the
/// context of `make_kubeconfig()` added, or in the place of those with the same names, and that
/// context the current one. kInvalid when the text is not a kubeconfig: nothing of it may be lost.
Result<std::string> merge_kubeconfig(std::string_view existing, const KubeAccess& access);

}  // namespace muster::control_plane
