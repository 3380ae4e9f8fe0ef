#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "kube/client/client.h"

namespace muster::kube {

/// The list+watch loop of an informer: lists, watches from the list's revision, resumes from the
/// last revision seen (bookmarks move it too), lists again after 410, and backs off from a server
/// that fails (0.8 s doubled up to 30 s with jitter, as client-go's reflector does; from one that
/// does not answer never more than the first, so that it is seen soon after it is back).
///
///     list ──ok──▶ watch ──clean end──▶ watch again, from the last revision
///      ▲ ▲          │ └──away, busy───▶ back off, watch again, from the last revision
///      │ └──410─────┤
///      └──back off◀─┴──anything else
///
/// With Lists::kStreamed the list is what a watch begins with, where the server has that: it then
/// holds no list for us in its memory, and neither do we.
///
/// A resource that the server does not have, or that we may not list, is asked for again every few
/// seconds and logged once; its definition or a role may come.
///
/// The sink is called on the loop of the group, never after the group stopped. Nothing here gives
/// up: a server that stays away is logged now and then. Owns nothing of what it refers to; it and
/// the sink outlive the group's tasks.
class Reflector {
  public:
    /// Between begin_list() and end_list() there is nothing but listed().
    struct Sink {
        /// A list begins; what one brought that was not ended is void.
        std::function<void()> begin_list;
        /// One of its objects, told before the next page is asked for: nobody holds the trees of a
        /// large list together unless the sink does.
        std::function<void(std::string key, ObjectPtr object)> listed;
        /// The list is complete: whatever was not in it is gone.
        std::function<void()> end_list;
        std::function<void(const std::string& key, ObjectPtr object)> upsert;
        std::function<void(const std::string& key)> erase;
        /// A list failed, and is tried again after a while. May be empty.
        std::function<void(const Error& error)> failed = {};
    };

    /// How a list comes: in pages, or as the beginning of the watch if the server has that.
    enum class Lists : std::uint8_t { kPaged, kStreamed };

    /// `listed_fields`: for a sink that wants little of what is watched, and of what one field
    /// selector can't tell. Of the objects only those that match one of these are listed, one list
    /// each, all of the same revision. The watch brings changes of all, so the sink drops on its
    /// own what matches none.
    Reflector(Client& client, Clock& clock, Rng& rng, ResourceType type, ListOptions options,
              Sink sink, std::vector<std::string> listed_fields = {}, Lists lists = Lists::kPaged);

    /// Runs until the group stops. Once.
    void start(TaskGroup& tasks);
    /// True once a complete list went into the sink.
    bool has_synced() const { return synced_; }
    /// Returns when has_synced(). After start().
    Task<void> wait_synced();
    /// Returns when has_synced(), or when there is a refusal(). After start().
    Task<void> wait_settled();
    /// Why the last list was refused: kNotFound when the server does not have the resource,
    /// kForbidden when we may not; null otherwise.
    const Error* refusal() const { return refusal_ ? &*refusal_ : nullptr; }

  private:
    enum class Next { kWatch, kList, kStop };

    Task<void> run();
    Task<Result<void>> list();
    Task<Result<void>> list_newer(std::string revision);
    Task<Result<void>> stream_list(std::string revision);
    void list_is_complete(std::string revision);
    WatchOptions watch_options() const;
    Task<Result<void>> list_all(std::string revision);
    Task<Result<std::string>> list_pages(ListOptions options);
    Task<Next> watch();
    Task<Result<void>> follow(std::unique_ptr<WatchStream> stream);
    Result<void> take(const WatchEvent& event);
    Task<void> back_off(const Error& error);
    void warn(std::string_view what, const Error& error);
    void note_failed_list(const Error& error);
    std::string key_of(const json::value& object) const;

    Client& client_;
    Clock& clock_;
    Rng& rng_;
    ResourceType type_;
    ListOptions options_;
    Sink sink_;
    std::vector<std::string> listed_fields_;  ///< what one list each is of; never empty
    Lists lists_;
    std::unique_ptr<WatchStream> begun_;  ///< the watch whose beginning was the list
    std::string revision_;                ///< of the last list or event; "" before the first list
    bool revision_gone_ = false;  ///< revision_ was refused: the next list asks for the newest
    bool fresh_list_ = false;     ///< no watch has yet accepted the list's revision
    std::uint64_t events_ = 0;    ///< that the current watch brought
    bool synced_ = false;
    std::optional<Error> refusal_;
    std::unique_ptr<Signal> settled_signal_;
    std::optional<Code> warned_;  ///< of the last failure that was logged
    Instant warned_at_{};
    Duration backoff_{};  ///< of the last failure; zero after a quiet time
    Instant last_failure_{};
};

}  // namespace muster::kube
