#pragma once

#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/async/signal.h"
#include "base/async/task_group.h"
#include "base/time/clock.h"
#include "cli/internal/run/console.h"
#include "cli/internal/run/log_bookmark.h"
#include "cli/internal/run/read_pace.h"
#include "cli/internal/run/views.h"
#include "kube/client/client.h"

namespace muster::cli {

/// Follows the log of every container that starts: prints its lines with the pod's name, keeps the
/// last ones, and writes everything to a file if requested. Each instance of a restarted container
/// is followed after the previous one has ended, also one that ended before it was seen. If the
/// connection to the server breaks, or a node closes the log of a container that runs, it is asked
/// for again from its last lines on; a log that can't be read is reported once. Many lines are read
/// together, see ReadPace. Thread: the loop of the task group.
class LogFollower {
  public:
    struct Options {
        std::string directory = {};  ///< where logs are kept; may be empty
        bool ranks = false;          ///< pods are called "worker-0"
    };
    /// `changed` is notified when a stream has ended.
    LogFollower(kube::Client& client, Clock& clock, TaskGroup& tasks, Console& console,
                Signal& changed, Options options);
    ~LogFollower();

    /// Starts to follow new logs; to be called with every state of a pod.
    void observe(const PodView& pod);
    /// The pod does not exist any more.
    void forget(const PodView& pod);
    /// When a log had its last line; nothing yet: unset.
    std::optional<Instant> last_line_at() const { return last_line_at_; }
    /// Whether a stream is open or has yet to be opened.
    bool busy() const;

    /// Of one of the container's last instances (how often it had been restarted), oldest first. Of
    /// what a program wrote over itself with "\r", the last state.
    std::vector<std::string> last_lines(const std::string& pod_uid, const std::string& container,
                                        int instance) const;
    /// Problems with the files, once each.
    std::vector<std::string> take_problems() { return std::exchange(problems_, {}); }

  private:
    static constexpr std::size_t kKeptLines = 10;
    static constexpr std::size_t kKeptBytes = 500;    ///< of each of them
    static constexpr std::size_t kKeptInstances = 3;  ///< the next ones start before the job ends
    using Key = std::pair<std::string, std::string>;  ///< pod uid and container

    struct Followed {
        std::string namespace_;
        std::string pod;
        std::string container;
        std::string shown_name;
        std::string file_name;
        int started = 0;   ///< instances reported by the pod
        int followed = 0;  ///< the instance being read, or the last one that was; from 1
        bool open = false;
        int ended = 0;                                ///< instances that have ended
        bool told = false;                            ///< that it can't be read
        std::map<int, std::deque<std::string>> last;  ///< lines, by instance
    };

    void start(const Key& key);
    void choose_instance(Followed& followed);
    static void keep_line(std::deque<std::string>& last, std::string_view line, bool overwrites);
    Task<void> follow(Key key);
    Task<void> follow_instance(Followed& followed);
    using Take = std::function<void(std::string_view piece)>;
    /// How far a log was read.
    struct Progress {
        std::size_t bytes = 0;
        LogBookmark bookmark = {};
    };
    kube::LogOptions request_for(const Followed& followed) const;
    Task<Result<void>> read_from(const Followed& followed, Progress& progress, const Take& take);
    Task<bool> closed_early(const Followed& followed, Duration patience);
    Task<bool> pause(Duration longest);
    void flush_soon();
    Task<void> flush_later();
    void tell_failure(Followed& followed, const Error& error);
    std::FILE* open_file(const Followed& followed);

    kube::Client& client_;
    Clock& clock_;
    TaskGroup& tasks_;
    Console& console_;
    Signal& changed_;
    const Options options_;
    Signal seen_;  ///< a new state of a pod
    std::optional<Instant> last_line_at_;
    ReadPace pace_;
    bool flushes_ = false;  ///< soon
    std::map<Key, Followed> followed_;
    std::set<std::string> begun_;  ///< the names of files that have something of this run
    std::vector<std::string> problems_;
};

}  // namespace muster::cli
