#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/authorization/authorization.h"
#include "apiserver/requests/router.h"
#include "apiserver/requests/user.h"
#include "base/time/clock.h"
#include "kube/values/json.h"
#include "store/object_text.h"

namespace muster::apiserver_http {

/// One HTTP request as it is counted, limited and recorded. What stays empty was not
/// known when the request was refused.
struct RequestRecord {
    WallTime received{};
    Instant begun{};
    std::optional<bool> authenticated;         ///< unset: it was refused before anybody looked
    apiserver::User user;                      ///< who sent it
    std::optional<apiserver::User> acting_as;  ///< as whom it was served, if somebody else
    apiserver::Action action;
    std::string version;  ///< of the API group
    std::string kind;     ///< of the resource
    bool dry_run = false;
    bool apply = false;
    /// It lasts as long as the client likes: a watch, a log, a connection to a pod.
    bool long_running = false;
    std::optional<apiserver::Decision> decision;
    kube::ObjectPtr request_object;
    kube::ObjectPtr response_object;     ///< of an error its Status
    store::ObjectTextPtr response_text;  ///< of a stored object, in the place of the other

    bool is_resource() const { return !action.resource.empty(); }
    /// As whom it was served.
    const apiserver::User& served_user() const { return acting_as ? *acting_as : user; }
    /// It changes nothing.
    bool is_read_only() const;
};

/// Fills in what a request for an object says of itself.
void describe_request(RequestRecord& record, const apiserver::Target& target,
                      const kube::Request& request);

/// Whether a request for it is meant to go on.
bool is_long_running(const apiserver::Action& action);

/// What the label `verb` of a metric says: "GET", "LIST", "CONNECT", ...
std::string_view metric_verb(const RequestRecord& record);
/// The label `scope`: "resource", "namespace", "cluster", or "" of a path.
std::string_view metric_scope(const RequestRecord& record);
/// The label `subresource`; of a path what it begins with, if it is one that is served: a client
/// can't make up new ones.
std::string_view metric_subresource(const RequestRecord& record);

}  // namespace muster::apiserver_http
