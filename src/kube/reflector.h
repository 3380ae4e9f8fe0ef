#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/rng.h"
#include "base/signal.h"
#include "base/task_group.h"
#include "kube/client.h"

namespace muster::kube {

/// The list+watch loop of an informer: lists, watches from the list's revision, resumes from the
/// last revision seen (bookmarks move it too), lists again after 410, and backs off from a server
/// that fails (0.8 s doubled up to 30 s with jitter, as client-go's reflector does).
///
///     list ──ok──▶ watch ──clean end──▶ watch again, from the last revision
///      ▲ ▲          │ └──away, busy───▶ back off, watch again, from the last revision
///      │ └──410─────┤
///      └──back off◀─┴──anything else
///
/// The sink is called on the loop of the group, never after the group stopped. Nothing here gives
/// up: a server that stays away is logged at each try. Owns nothing of what it refers to; it and
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
    };

    /// `listed_fields`: for a sink that wants little of what is watched, and of what one field
    /// selector can't tell. Of the objects only those that match one of these are listed, one list
    /// each, all of the same revision. The watch brings changes of all, so the sink drops on its
    /// own what matches none.
    Reflector(Client& client, Clock& clock, Rng& rng, ResourceType type, ListOptions options,
              Sink sink, std::vector<std::string> listed_fields = {});

    /// Runs until the group stops. Once.
    void start(TaskGroup& tasks);
    /// True once a complete list went into the sink.
    bool has_synced() const { return synced_; }
    /// Returns when has_synced(). After start().
    Task<void> wait_synced();

  private:
    enum class Next { kWatch, kList, kStop };

    Task<void> run();
    Task<Result<void>> list();
    Task<Result<void>> list_all(std::string revision);
    Task<Result<std::string>> list_pages(ListOptions options);
    Task<Next> watch();
    Task<Result<void>> follow(std::unique_ptr<WatchStream> stream);
    Result<void> take(const WatchEvent& event);
    Task<void> back_off(std::optional<std::chrono::milliseconds> at_least);
    std::string key_of(const json::value& object) const;

    Client& client_;
    Clock& clock_;
    Rng& rng_;
    ResourceType type_;
    ListOptions options_;
    Sink sink_;
    std::vector<std::string> listed_fields_;  ///< what one list each is of; never empty
    std::string revision_;        ///< of the last list or event; "" before the first list
    bool revision_gone_ = false;  ///< revision_ was refused: the next list asks for the newest
    bool fresh_list_ = false;     ///< no watch has yet accepted the list's revision
    std::uint64_t events_ = 0;    ///< that the current watch brought
    bool synced_ = false;
    std::unique_ptr<Signal> synced_signal_;
    Duration backoff_{};  ///< of the last failure; zero after a quiet time
    Instant last_failure_{};
};

}  // namespace muster::kube
