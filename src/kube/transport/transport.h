#pragma once

#include <boost/json/value.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/async/async.h"
#include "base/result.h"
#include "base/time/clock.h"
#include "kube/values/json.h"

namespace muster::kube {

enum class Method { kGet, kPost, kPut, kPatch, kDelete };

enum class ContentType { kJson, kJsonPatch, kMergePatch, kStrategicMergePatch, kApplyPatch };

/// A request to the Kubernetes API, decoded: bodies are JSON values, so that an in-process server
/// is reached without encoding a byte.
struct Request {
    Method method = Method::kGet;
    std::string path;  ///< percent-decoded segments joined by '/', without the query
    std::vector<std::pair<std::string, std::string>> query;
    ContentType content_type = ContentType::kJson;
    ObjectPtr body;  ///< null for none
    /// For a list: the caller takes the items from Response::items, if they are there. An
    /// in-process server then shares them instead of copying each into the body.
    bool items_apart = false;
    /// The caller reads nothing of a successful answer: a transport that would have to parse the
    /// body leaves it out.
    bool body_unread = false;
    std::string user_agent = "muster";
    /// A transport to a distant server does not send it at this time or later: kUnavailable then.
    Instant send_before = Instant::max();
    /// Groups requests for a transport that lets flows take turns; empty for all others.
    std::string flow = {};
    /// Fields that occurred more than once in the text of the body; `body` has the last one of
    /// each.
    std::vector<std::string> duplicate_fields = {};

    /// The first value of a query parameter, or "".
    std::string_view query_value(std::string_view key) const;
};

struct Response {
    int status = 200;              ///< HTTP status
    ObjectPtr body;                ///< for failures a kind: Status object
    std::vector<ObjectPtr> items;  ///< of a list that has no `items` in its body
    std::vector<std::string> warnings;
    /// Set if a refusal says when to try again.
    std::optional<Duration> retry_after = std::nullopt;
};

enum class WatchEventType { kAdded, kModified, kDeleted, kBookmark, kError };

struct WatchEvent {
    WatchEventType type;
    ObjectPtr object;
};

/// The events of one watch, in revision order. Destroying the stream ends the watch.
class WatchStream {
  public:
    virtual ~WatchStream() = default;
    /// The next event; nullopt at a clean end; an error if the connection broke. One caller at a
    /// time. Cancelling the caller leaves the stream usable.
    virtual Task<Result<std::optional<WatchEvent>>> next() = 0;
};

/// A text body that arrives piece by piece (pod logs).
class TextStream {
  public:
    virtual ~TextStream() = default;
    /// The next piece, never empty; nullopt at the end. One caller at a time. Cancelling the caller
    /// leaves the stream usable.
    virtual Task<Result<std::optional<std::string>>> read() = 0;
    /// For a reader that lets a while pass: until the next read(), input wakes the loop only when
    /// there is much of it. False if there may be more to read now.
    virtual bool gather() { return false; }
};

/// How requests reach an API server: in process (apiserver/) or over HTTP; the simulation wraps
/// either to inject faults.
///
/// A failure of the API (404, 409, ...) is a Response; an Error is only for a request that never
/// got an answer: kUnavailable if it certainly had no effect, kTimeout if it may have had one,
/// kCancelled if this side is stopping (it may have had one, too). Thread: one loop.
class Transport {
  public:
    virtual ~Transport() = default;

    virtual Task<Result<Response>> call(Request request) = 0;
    /// A GET with watch=true. A refusal is an Error made by error_from_status().
    virtual Task<Result<std::unique_ptr<WatchStream>>> watch(Request request) = 0;
    /// A GET whose answer is text, such as a pod's log. A refusal is an Error as for watch().
    virtual Task<Result<std::unique_ptr<TextStream>>> stream_text(Request request) = 0;
};

}  // namespace muster::kube
