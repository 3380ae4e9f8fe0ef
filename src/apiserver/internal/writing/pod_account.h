#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "kube/values/json.h"

namespace muster::apiserver {

/// The service account of a new pod: the one that it names, or `default`.
std::string account_of(const json::object& pod);

/// Gives a new pod what comes from its service account: the name; the account's imagePullSecrets if
/// it has none; and a volume with a token, the server's CA and the namespace, mounted in every
/// container that has nothing at that path, unless the pod, or else the account, opts out. `suffix`
/// ends the volume's name.
void give_account(json::object& pod, const json::object& account, std::string_view suffix);

}  // namespace muster::apiserver
