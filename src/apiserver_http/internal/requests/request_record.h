#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/authorization/authorization.h"
#include "apiserver/requests/request_options.h"
#include "apiserver/requests/router.h"
#include "apiserver/requests/user.h"
#include "base/time/clock.h"
#include "kube/values/json.h"
#include "store/object_text.h"

namespace muster::apiserver_http {

/// One HTTP request as it is counted, limited and recorded. A field is empty if the request was
/// refused before it was known.
struct RequestRecord {
    WallTime received{};
    Instant begun{};
    std::optional<bool> authenticated;         ///< unset: refused before it was checked
    apiserver::User user;                      ///< who sent it
    std::optional<apiserver::User> acting_as;  ///< the user as whom it was served, if another
    apiserver::Action action;
    std::string version;  ///< of the API group
    std::string kind;     ///< of the resource
    /// An extension server serves it: what its path names may be anything.
    bool forwarded = false;
    bool dry_run = false;
    bool apply = false;
    /// It lasts as long as the client likes: a watch, a log, a connection to a pod.
    bool long_running = false;
    std::optional<apiserver::Decision> decision;
    kube::ObjectPtr request_object;
    kube::ObjectPtr response_object;     ///< for an error its Status
    store::ObjectTextPtr response_text;  ///< used instead for a stored object
    /// What policies say of it; null: none were asked.
    std::shared_ptr<const apiserver::AuditAnnotations> annotations;

    bool is_resource() const { return !action.resource.empty(); }
    /// The user as whom it was served.
    const apiserver::User& served_user() const { return acting_as ? *acting_as : user; }
    /// It changes nothing.
    bool is_read_only() const;
};

/// Fills in the data of a request for an object.
void describe_request(RequestRecord& record, const apiserver::Target& target,
                      const kube::Request& request);

/// Whether a request for this action is long-running.
bool is_long_running(const apiserver::Action& action);

/// The label `verb` of a metric: "GET", "LIST", "CONNECT", ...
std::string_view metric_verb(const RequestRecord& record);
/// The label `scope`: "resource", "namespace", "cluster", or "" for a path.
std::string_view metric_scope(const RequestRecord& record);
/// The label `resource`: empty if this server does not know it, so that clients can't create new
/// values.
std::string_view metric_resource(const RequestRecord& record);
/// The label `subresource`; for a path its first segment if that is served, so that clients can't
/// create new values.
std::string_view metric_subresource(const RequestRecord& record);

}  // namespace muster::apiserver_http
