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

/// The list and watch loop of an informer: lists, watches from the list's revision, resumes from
/// the last revision seen (bookmarks move it too), lists again after 410, and backs off from a
/// server that fails (0.8 s, doubled up to 30 s with jitter, as client-go's reflector does; if the
/// server does not answer at all the pause does not grow, so that its return is noticed soon).
///
///     list ──ok──▶ watch ──clean end──▶ watch again, from the last revision
///      ▲ ▲          │ └──away, busy───▶ back off, watch again, from the last revision
///      │ └──410─────┤
///      └──back off◀─┴──anything else
///
/// With Lists::kStreamed the list is the beginning of a watch, if the server supports that: then
/// neither the server nor we hold the whole list in memory.
///
/// A resource that the server does not have, or that we may not list, is logged once and asked for
/// again every few seconds, since its definition or a role may be added.
///
/// The sink is called on the loop of the group, and never after the group stopped. The reflector
/// never gives up: a server that stays away is logged now and then. It owns nothing of what it
/// refers to; it and the sink outlive the group's tasks.
class Reflector {
  public:
    /// Between begin_list() and end_list() only listed() is called.
    struct Sink {
        /// A list begins; the objects of an earlier list that was not ended are void.
        std::function<void()> begin_list;
        /// One object of the list, passed before the next page is requested: the objects of a large
        /// list are never in memory together unless the sink keeps them.
        std::function<void(std::string key, ObjectPtr object)> listed;
        /// The list is complete: everything that was not in it is gone.
        std::function<void()> end_list;
        std::function<void(const std::string& key, ObjectPtr object)> upsert;
        std::function<void(const std::string& key)> erase;
        /// Called before listed() and upsert() with their object: what the sink needs of it, if
        /// that takes long. The next object waits meanwhile. May be empty.
        std::function<std::optional<Task<void>>(const ObjectPtr& object)> read = {};
        /// A list failed, and is tried again later. May be empty.
        std::function<void(const Error& error)> failed = {};
    };

    /// How a list arrives: in pages, or as the beginning of the watch if the server supports that.
    enum class Lists : std::uint8_t { kPaged, kStreamed };

    /// `listed_fields`: for a sink that wants little of what is watched, chosen by more than one
    /// field selector. Only objects that match one of these are listed, with one list for each, all
    /// of the same revision. The watch brings the changes of all objects, so the sink itself has to
    /// drop those that match none.
    Reflector(Client& client, Clock& clock, Rng& rng, ResourceType type, ListOptions options,
              Sink sink, std::vector<std::string> listed_fields = {}, Lists lists = Lists::kPaged);

    /// Runs until the group stops. To be called once.
    void start(TaskGroup& tasks);
    /// True once the sink has received a complete list.
    bool has_synced() const { return synced_; }
    /// Returns when has_synced(). After start().
    Task<void> wait_synced();
    /// Returns when has_synced(), or when there is a refusal(). After start().
    Task<void> wait_settled();
    /// Why the last list was refused: kNotFound if the server does not have the resource,
    /// kForbidden if we may not list it; otherwise null.
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
    Task<void> read_ahead(ObjectPtr object);
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
    std::vector<std::string> listed_fields_;  ///< one list is made for each; never empty
    Lists lists_;
    std::unique_ptr<WatchStream> begun_;  ///< the watch that began with the list
    std::string revision_;                ///< of the last list or event; "" before the first list
    bool revision_gone_ = false;  ///< revision_ was refused: the next list asks for the newest
    bool fresh_list_ = false;     ///< no watch has yet accepted the list's revision
    std::uint64_t events_ = 0;    ///< number of events of the current watch
    bool synced_ = false;
    std::optional<Error> refusal_;
    std::unique_ptr<Signal> settled_signal_;
    std::optional<Code> warned_;  ///< code of the last failure that was logged
    Instant warned_at_{};
    Duration backoff_{};  ///< after the last failure; zero after a quiet time
    Instant last_failure_{};
};

}  // namespace muster::kube
