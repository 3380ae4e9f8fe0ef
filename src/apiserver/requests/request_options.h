#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/requests/status_error.h"
#include "apiserver/requests/user.h"
#include "kube/client/client.h"
#include "kube/transport/transport.h"
#include "kube/values/json.h"

namespace muster::apiserver {

/// Called for an object before it is stored: `before` is null for a new one. An error ends the
/// write. It may be called again if another write came in between.
using Admit =
    std::function<StatusResult<void>(const json::object* before, const json::object& after)>;

/// Annotations of the audit event of a request.
using AuditAnnotations = std::map<std::string, std::string>;

/// On whose behalf a write is made, and how it came.
struct Requester {
    std::shared_ptr<const User> user = nullptr;  ///< null: this process, which may do everything
    Admit admit = nullptr;       ///< null: everything that the rules of the kind allow
    std::size_t body_bytes = 0;  ///< about the length of the body's text
    std::shared_ptr<AuditAnnotations> audit = nullptr;  ///< null: there is no audit event
};

/// Options of create, update and patch.
struct WriteQuery {
    bool dry_run = false;
    kube::FieldValidation field_validation = kube::FieldValidation::kWarn;
    /// The manager of the write in managedFields: fieldManager, else the user agent up to its first
    /// '/'.
    std::string manager = "unknown";
    bool force = false;  ///< of an apply: take over what others own
    Requester requester = {};
};

struct ListQuery {
    std::string label_selector;
    std::string field_selector;
    std::size_t limit = 0;  ///< 0: none
    std::string continue_;
    std::optional<std::uint64_t> resource_version;  ///< unset: most recent
    std::string resource_version_match;
};

struct WatchQuery {
    std::string label_selector;
    std::string field_selector;
    std::optional<std::uint64_t> resource_version;
    bool bookmarks = false;
    std::optional<bool> send_initial_events;
    std::optional<std::int64_t> timeout_seconds;
};

struct DeleteQuery {
    std::optional<std::int64_t> grace_period_seconds;
    std::string propagation;  ///< "", "Background", "Foreground", "Orphan"
    std::string precondition_uid;
    std::string precondition_resource_version;
    bool dry_run = false;
    Requester requester = {};
};

/// True if present, unless it is 0 or false, as a real server reads it.
bool query_flag(const kube::Request& request, std::string_view key);

/// `options_kind` is "CreateOptions", "UpdateOptions" or "PatchOptions".
StatusResult<WriteQuery> parse_write_query(const kube::Request& request,
                                           std::string_view options_kind);
StatusResult<ListQuery> parse_list_query(const kube::Request& request);
StatusResult<WatchQuery> parse_watch_query(const kube::Request& request);
/// From the body, which takes precedence, or the query.
StatusResult<DeleteQuery> parse_delete_query(const kube::Request& request);

}  // namespace muster::apiserver
