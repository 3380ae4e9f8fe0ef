#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kube/objects/resource_type.h"
#include "kube/transport/transport.h"

namespace muster::kube {

struct ListOptions {
    std::string namespace_;  ///< empty: all namespaces
    std::string label_selector;
    std::string field_selector;
    std::string resource_version;
    std::string continue_;
    int limit = 0;  ///< 0: no limit
};

struct ListResult {
    std::vector<ObjectPtr> items;
    std::string resource_version;
    std::string continue_;
};

struct WatchOptions {
    std::string namespace_;
    std::string label_selector;
    std::string field_selector;
    std::string resource_version;
    bool bookmarks = true;
    /// The stream begins with all present objects, in a state at least as new as resource_version,
    /// and a bookmark for which ends_initial_events() is true. Needs bookmarks; a server without it
    /// (WatchList of Kubernetes, KEP-3157) answers kInvalid.
    bool initial_events = false;
    /// When the server ends the stream; if absent, the server chooses half an hour to an hour.
    std::optional<std::int64_t> timeout_seconds;
};

enum class FieldValidation { kIgnore, kWarn, kStrict };

struct WriteOptions {
    bool dry_run = false;
    FieldValidation field_validation = FieldValidation::kWarn;
    std::string field_manager;
};

enum class Propagation { kDefault, kBackground, kForeground, kOrphan };

struct DeleteOptions {
    std::optional<std::int64_t> grace_period_seconds;
    Propagation propagation = Propagation::kDefault;
    std::string precondition_uid;
    std::string precondition_resource_version;
};

struct LogOptions {
    std::string container;
    bool follow = false;
    bool previous = false;
    bool timestamps = false;
    std::optional<std::int64_t> tail_lines;
    std::optional<std::int64_t> limit_bytes;
    std::optional<std::int64_t> since_seconds;
    std::string since_time;  ///< RFC 3339; not together with since_seconds
};

/// Whether this bookmark ends the events that WatchOptions::initial_events asked for.
bool ends_initial_events(const json::value& bookmark);

/// An object that was written, and the server's warnings about it.
struct Written {
    ObjectPtr object;
    std::vector<std::string> warnings;
};

/// The verbs of the Kubernetes API over a Transport. Failures of the API are Errors with the
/// matching code and causes. No verb retries by itself: the caller knows whether a repeat is safe.
/// An empty name is refused here with kBadRequest, since its path would be the collection's. The
/// client outlives its calls. Thread: the transport's loop.
class Client {
  public:
    /// `flow`: the flow of all its requests (see Request).
    explicit Client(Transport& transport, std::string user_agent = "muster", std::string flow = {});

    Task<Result<ObjectPtr>> get(ResourceType type, std::string ns, std::string name);
    Task<Result<ListResult>> list(ResourceType type, ListOptions options);
    Task<Result<std::unique_ptr<WatchStream>>> watch(ResourceType type, WatchOptions options);
    Task<Result<Written>> create(ResourceType type, std::string ns, json::value object,
                                 WriteOptions options = {});
    /// Like create(), for a caller that does not need the server's version of the object.
    Task<Result<void>> create_unread(ResourceType type, std::string ns, json::value object);
    /// A PUT; subresource "" or "status".
    Task<Result<Written>> update(ResourceType type, std::string ns, std::string name,
                                 json::value object, std::string subresource = {},
                                 WriteOptions options = {});
    Task<Result<Written>> patch(ResourceType type, std::string ns, std::string name,
                                ContentType patch_type, json::value patch,
                                std::string subresource = {}, WriteOptions options = {});
    Task<Result<void>> remove(ResourceType type, std::string ns, std::string name,
                              DeleteOptions options = {});
    /// POST to a subresource such as pods/binding.
    Task<Result<Written>> create_subresource(ResourceType type, std::string ns, std::string name,
                                             std::string subresource, json::value object);
    Task<Result<std::unique_ptr<TextStream>>> logs(std::string ns, std::string pod,
                                                   LogOptions options = {});

    /// The same client for the requests of one flow.
    Client of_flow(std::string flow) const {
        return Client(transport_, user_agent_, std::move(flow));
    }

  private:
    Request request(Method method, std::string path) const;

    Transport& transport_;
    std::string user_agent_;
    std::string flow_;
};

}  // namespace muster::kube
