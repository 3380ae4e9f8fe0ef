#include "cli/internal/objects/object_follow.h"

#include "kube/objects/api_status.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

enum class Next { kDone, kWatchAgain, kListAgain };

struct Watched {
    Next next = Next::kDone;
    std::string revision;
};

/// One watch to its end.
Task<Result<Watched>> watch_once(Connection& connection, kube::ResourceType type,
                                 kube::WatchOptions options,
                                 const std::function<bool(const json::value*)>& seen) {
    Watched watched{Next::kWatchAgain, options.resource_version};
    auto stream = co_await connection.client().watch(type, options);
    if (!stream && stream.error().code() == Code::kGone) co_return Watched{Next::kListAgain, {}};
    if (!stream) co_return std::move(stream.error());
    for (;;) {
        CO_TRY(const std::optional<kube::WatchEvent> event, co_await (*stream)->next());
        if (!event) co_return watched;
        if (event->type == kube::WatchEventType::kError) {
            Error error = kube::error_from_status(0, *event->object);
            if (error.code() == Code::kGone) co_return Watched{Next::kListAgain, {}};
            co_return error;
        }
        if (const json::object* object = event->object->if_object())
            watched.revision = kube::string_at(kube::metadata_of(*object), "resourceVersion");
        if (event->type == kube::WatchEventType::kBookmark) continue;
        const bool gone = event->type == kube::WatchEventType::kDeleted;
        if (seen(gone ? nullptr : event->object.get())) {
            watched.next = Next::kDone;
            co_return watched;
        }
    }
}

}  // namespace

Task<Result<void>> follow_object(Connection& connection, kube::ResourceType type, std::string ns,
                                 std::string name,
                                 const std::function<bool(const json::value*)>& seen) {
    kube::ListOptions one;
    one.namespace_ = ns;
    one.field_selector = "metadata.name=" + name;
    kube::WatchOptions changes;
    changes.namespace_ = ns;
    changes.field_selector = one.field_selector;
    for (;;) {
        CO_TRY(const kube::ListResult list, co_await connection.client().list(type, one));
        if (seen(list.items.empty() ? nullptr : list.items.front().get())) co_return Result<void>();
        Watched watched{Next::kWatchAgain, list.resource_version};
        while (watched.next == Next::kWatchAgain) {
            changes.resource_version = watched.revision;
            CO_TRY(watched, co_await watch_once(connection, type, changes, seen));
        }
        if (watched.next == Next::kDone) co_return Result<void>();
    }
}

}  // namespace muster::cli
