#include "kube/client/reflector.h"

#include "base/async/cancellation.h"
#include "base/check.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/time/loop_watch.h"
#include "base/time/restarting_task.h"
#include "base/unexpected.h"
#include "kube/objects/api_status.h"
#include "kube/values/json_access.h"
#include "kube/values/namespaced_name.h"

namespace muster::kube {
namespace {

/// If it throws for one object, it still gets the others.
constexpr std::string_view kSink = "a sink of changes";
constexpr Duration kFirstBackoff = std::chrono::milliseconds(800);
constexpr Duration kLongestBackoff = std::chrono::seconds(30);
/// For a server that does not answer: noticing its return soon costs it one request.
constexpr Duration kLongestAway = kFirstBackoff;
/// While a failure lasts.
constexpr Duration kBetweenWarnings = std::chrono::seconds(30);
/// For a resource that is refused: someone may be installing it right now.
constexpr Duration kLongestRefusal = std::chrono::seconds(5);
/// After this long without a failure, the next one counts as the first.
constexpr Duration kQuietTime = std::chrono::minutes(2);
/// A stream that ends sooner without any event is a failure: reopening it immediately would spin.
constexpr Duration kShortestWatch = std::chrono::seconds(1);
constexpr int kPageSize = 500;
constexpr std::uint64_t kWatchSeconds = 300;  ///< and up to twice that, so that watches spread

/// A text of the metadata; the server may have sent something that is no object.
std::string_view metadata_text(const json::value& object, std::string_view key) {
    const json::object* fields = object.if_object();
    return fields == nullptr ? std::string_view() : string_at(metadata_of(*fields), key);
}

std::string revision_of(const json::value& object) {
    return std::string(metadata_text(object, "resourceVersion"));
}

/// A server that lost its history (restored, or one of several) may not know our revision.
bool revision_in_future(const Error& error) {
    for (const Cause& cause : error.causes())
        if (cause.reason == "ResourceVersionTooLarge") return true;
    return false;
}

bool is_refusal(const Error& error) {
    return error.code() == Code::kNotFound || error.code() == Code::kForbidden;
}

bool refuses_revision(const Error& error) {
    return error.code() == Code::kGone || revision_in_future(error);
}

/// Servers say it in several ways: the parameter is forbidden, or their etcd is too old (a
/// kube-apiserver of 1.36 on etcd 3.4). A list in pages shows whether it is something else.
bool may_be_unable_to_stream(const Error& error) {
    return !is_away(error) && !is_refusal(error) && !refuses_revision(error);
}

}  // namespace

Reflector::Reflector(Client& client, Clock& clock, Rng& rng, ResourceType type, ListOptions options,
                     Sink sink, std::vector<std::string> listed_fields, Lists lists)
    : client_(client),
      clock_(clock),
      rng_(rng),
      type_(std::move(type)),
      options_(std::move(options)),
      sink_(std::move(sink)),
      listed_fields_(std::move(listed_fields)),
      lists_(lists) {
    CHECK(listed_fields_.empty() || lists == Lists::kPaged,
          "a stream begins with all that it watches");
    if (listed_fields_.empty()) listed_fields_.push_back(options_.field_selector);
}

void Reflector::start(TaskGroup& tasks) {
    CHECK(settled_signal_ == nullptr, "a reflector is started once");
    settled_signal_ = std::make_unique<Signal>(tasks.executor());
    // After a fault it lists again, and so misses nothing.
    spawn_restarting(tasks, clock_, "reflector of " + type_.qualified(), [this] { return run(); });
}

Task<void> Reflector::wait_synced() {
    CHECK(settled_signal_ != nullptr, "wait_synced() before start()");
    while (!synced_) co_await settled_signal_->wait();
}

Task<void> Reflector::wait_settled() {
    CHECK(settled_signal_ != nullptr, "wait_settled() before start()");
    while (!synced_ && !refusal_) co_await settled_signal_->wait();
}

Task<void> Reflector::run() {
    for (;;) {
        Result<void> listed = co_await list();
        if (!listed) {
            const Error& error = listed.error();
            if (error.code() == Code::kCancelled) co_return;
            note_failed_list(error);
            if (sink_.failed) contained(kSink, [&] { sink_.failed(error); });
            co_await back_off(error);
            continue;
        }
        Next next = Next::kWatch;
        while (next == Next::kWatch) next = co_await watch();
        if (next == Next::kStop) co_return;
    }
}

/// The newest state at first, so that a restarted program never acts on older state than before;
/// later any state from our last revision on, which is cheapest for the server, unless it no longer
/// knows our revision.
Task<Result<void>> Reflector::list() {
    begun_.reset();
    Result<void> listed = co_await list_newer(revision_gone_ ? "" : revision_);
    if (!listed && refuses_revision(listed.error())) {
        revision_gone_ = true;
        listed = co_await list_newer("");
    }
    co_return listed;
}

Task<Result<void>> Reflector::list_newer(std::string revision) {
    if (lists_ == Lists::kStreamed) {
        Result<void> listed = co_await stream_list(revision);
        if (listed || !may_be_unable_to_stream(listed.error())) co_return listed;
        log::debug("the server does not stream lists",
                   {{"resource", type_.qualified()}, {"error", listed.error().message()}});
        lists_ = Lists::kPaged;
    }
    co_return co_await list_all(std::move(revision));
}

/// The beginning of a watch. Changes may come in between: an object that was deleted after it was
/// listed is removed when the list is complete.
Task<Result<void>> Reflector::stream_list(std::string revision) {
    WatchOptions options = watch_options();
    options.resource_version = std::move(revision);
    options.initial_events = true;
    CO_TRY(std::unique_ptr<WatchStream> stream, co_await client_.watch(type_, options));
    std::vector<std::string> gone;
    contained(kSink, [&] { sink_.begin_list(); });
    for (;;) {
        CO_TRY(std::optional<WatchEvent> event, co_await stream->next());
        if (!event) co_return Error(Code::kUnavailable, "the watch ended before all was there");
        if (event->type == WatchEventType::kError) co_return error_from_status(0, *event->object);
        if (event->type == WatchEventType::kBookmark) {
            if (!ends_initial_events(*event->object)) continue;
            list_is_complete(revision_of(*event->object));
            break;
        }
        std::string key = key_of(*event->object);
        if (key.empty()) continue;
        std::erase(gone, key);
        if (event->type == WatchEventType::kDeleted) {
            gone.push_back(std::move(key));
        } else {
            co_await read_ahead(event->object);
            contained(kSink, [&] { sink_.listed(std::move(key), std::move(event->object)); });
        }
    }
    for (const std::string& key : gone) contained(kSink, [&] { sink_.erase(key); });
    begun_ = std::move(stream);
    co_return Result<void>();
}

Task<Result<void>> Reflector::list_all(std::string revision) {
    ListOptions options = options_;
    options.resource_version = std::move(revision);
    // With a revision, the server would take a limit to mean exactly that revision.
    options.limit = options.resource_version.empty() ? kPageSize : 0;
    contained(kSink, [&] { sink_.begin_list(); });
    for (const std::string& fields : listed_fields_) {
        options.field_selector = fields;
        CO_TRY(options.resource_version, co_await list_pages(options));
        options.limit = kPageSize;  // the other lists must be of exactly the first one's revision
    }
    list_is_complete(std::move(options.resource_version));
    co_return Result<void>();
}

void Reflector::list_is_complete(std::string revision) {
    revision_ = std::move(revision);
    revision_gone_ = false;
    fresh_list_ = true;
    warned_.reset();
    contained(kSink, [&] { sink_.end_list(); });
    if (refusal_)
        log::info("a resource that was refused is there now", {{"resource", type_.qualified()}});
    refusal_.reset();
    if (synced_) return;
    synced_ = true;
    settled_signal_->notify_all();
}

/// Returns the revision of the list.
Task<Result<std::string>> Reflector::list_pages(ListOptions options) {
    for (;;) {
        CO_TRY(ListResult page, co_await client_.list(type_, options));
        if (page.resource_version.empty())
            co_return Error(Code::kInternal, "list of " + type_.qualified() +
                                                 ": no metadata.resourceVersion to watch from");
        for (ObjectPtr& object : page.items) {
            std::string key = key_of(*object);
            if (key.empty()) continue;
            co_await read_ahead(object);
            contained(kSink, [&] { sink_.listed(std::move(key), std::move(object)); });
        }
        if (page.continue_.empty()) co_return std::move(page.resource_version);
        options.continue_ = std::move(page.continue_);
        options.resource_version.clear();  // the token has it
        options.limit = kPageSize;
    }
}

void Reflector::note_failed_list(const Error& error) {
    const bool known =
        refusal_ && refusal_->code() == error.code() && refusal_->message() == error.message();
    if (!known) warn("list failed", error);
    if (!is_refusal(error)) {
        refusal_.reset();
        return;
    }
    refusal_ = error;
    settled_signal_->notify_all();
}

WatchOptions Reflector::watch_options() const {
    WatchOptions options;
    options.namespace_ = options_.namespace_;
    options.label_selector = options_.label_selector;
    options.field_selector = options_.field_selector;
    options.timeout_seconds = static_cast<std::int64_t>(kWatchSeconds + rng_.below(kWatchSeconds));
    return options;
}

Task<Reflector::Next> Reflector::watch() {
    WatchOptions options = watch_options();
    options.resource_version = revision_;
    const Instant opened = clock_.now();
    events_ = 0;
    Result<void> ended;
    if (begun_) {
        ended = co_await follow(std::move(begun_));
    } else if (auto stream = co_await client_.watch(type_, options); stream) {
        ended = co_await follow(std::move(*stream));
    } else {
        ended = std::move(stream.error());
    }
    if (ended) {
        if (events_ > 0 || clock_.now() - opened >= kShortestWatch) {
            fresh_list_ = false;
            co_return Next::kWatch;
        }
        ended = Error(Code::kUnavailable, "the watch ended immediately without any event");
    }
    const Error& error = ended.error();
    if (error.code() == Code::kCancelled) co_return Next::kStop;
    if (refuses_revision(error)) {
        log::debug("watch expired, listing again",
                   {{"resource", type_.qualified()}, {"revision", revision_}});
        // The list may be answered from our own revision on, unless the server never had it.
        revision_gone_ = revision_in_future(error);
        // If a list's own revision is refused, retrying without a pause would spin.
        if (fresh_list_) co_await back_off(error);
        co_return Next::kList;
    }
    warn("watch failed", error);
    co_await back_off(error);
    const bool again = is_unanswered(error) || error.code() == Code::kTooManyRequests;
    co_return again ? Next::kWatch : Next::kList;
}

Task<Result<void>> Reflector::follow(std::unique_ptr<WatchStream> stream) {
    for (;;) {
        Result<std::optional<WatchEvent>> event = co_await stream->next();
        if (!event) co_return std::move(event.error());
        if (!event->has_value()) co_return Result<void>();
        works_for("following", type_.plural);
        const WatchEvent& change = **event;
        if (change.type == WatchEventType::kAdded || change.type == WatchEventType::kModified)
            co_await read_ahead(change.object);
        Result<void> taken = take(change);
        if (!taken) co_return taken;
        // As if a server that goes away, or a proxy that limits a connection's life, ended it.
        if (fault_point()) co_return Result<void>();
    }
}

/// If that fails, the sink fails with the object itself.
Task<void> Reflector::read_ahead(ObjectPtr object) {
    if (!sink_.read || object == nullptr) co_return;
    try {
        if (auto reading = sink_.read(object)) co_await *std::move(reading);
    } catch (...) {
        if (is_cancellation(std::current_exception())) throw;
        report_unexpected(kSink, std::current_exception());
    }
}

Result<void> Reflector::take(const WatchEvent& event) {
    static const json::value nothing;
    const json::value& object = event.object != nullptr ? *event.object : nothing;
    if (event.type == WatchEventType::kError) return error_from_status(0, object);
    ++events_;
    fresh_list_ = false;
    warned_.reset();
    std::string revision = revision_of(object);
    if (revision.empty())
        return Error(Code::kInternal, "a watch event without metadata.resourceVersion");
    if (event.type != WatchEventType::kBookmark) {
        const std::string key = key_of(object);
        if (key.empty()) return Error(Code::kInternal, "a watch event without metadata.name");
        // Before the sink: it may look, and the event counts even if it starts something.
        revision_ = revision;
        if (event.type == WatchEventType::kDeleted) {
            contained(kSink, [&] { sink_.erase(key); });
        } else {
            contained(kSink, [&] { sink_.upsert(key, event.object); });
        }
        return {};
    }
    revision_ = std::move(revision);
    return {};
}

/// When it begins, when it changes, and now and then while it lasts.
void Reflector::warn(std::string_view what, const Error& error) {
    const Instant now = clock_.now();
    if (warned_ == error.code() && now - warned_at_ < kBetweenWarnings) return;
    warned_ = error.code();
    warned_at_ = now;
    log::warning(what, {{"resource", type_.qualified()},
                        {"code", to_string(error.code())},
                        {"error", error.message()}});
}

Task<void> Reflector::back_off(const Error& error) {
    const Instant now = clock_.now();
    // A starting kube-apiserver answers 503 and asks to retry after 5 s, but is ready much earlier.
    const auto at_least = is_unanswered(error) ? std::nullopt : error.retry_after();
    const Duration longest = is_unanswered(error) || at_least ? kLongestAway
                             : refusal_                       ? kLongestRefusal
                                                              : kLongestBackoff;
    if (backoff_ == Duration::zero() || now - last_failure_ > kQuietTime) {
        backoff_ = kFirstBackoff;
    } else {
        backoff_ = std::min(backoff_ * 2, longest);
    }
    const auto jitter =
        Duration(static_cast<Duration::rep>(rng_.unit() * static_cast<double>(backoff_.count())));
    Duration wait = backoff_ + jitter;
    if (at_least) wait = std::max<Duration>(wait, *at_least);
    last_failure_ = now + wait;
    co_await clock_.sleep_until(last_failure_);
}

std::string Reflector::key_of(const json::value& object) const {
    const std::string name(metadata_text(object, "name"));
    if (name.empty() || !type_.namespaced) return name;
    return NamespacedName{std::string(metadata_text(object, "namespace")), name}.text();
}

}  // namespace muster::kube
