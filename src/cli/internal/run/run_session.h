#pragma once

#include <algorithm>
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
#include "cli/internal/run/console.h"
#include "cli/internal/run/log_follower.h"
#include "cli/internal/run/run_history.h"
#include "cli/internal/run/run_watcher.h"
#include "cli/internal/run/submission.h"
#include "cli/internal/run/views.h"
#include "kube/client/client.h"
#include "manifest/check.h"

namespace muster::cli {

/// One run against an API server: posts the objects, reports what happens to them, ends when the
/// jobs have ended or when it is told to, and leaves nothing running that it posted.
///
///   rehearse -> post -> follow -> [all ended] -> linger -> verdict -> remove what still runs
///                             \-> [stop()]  ----------------------^
///
/// Pods that outlive their job have a moment for their last lines; if the manifest says that they
/// stay (cleanPodPolicy: None), they have the time that they need. On a cluster a job that has ended
/// stays, and pods that its cleanPodPolicy keeps continue to run.
///
/// Thread: one loop.
class RunSession {
  public:
    /// Why a run was ended early; the value is the exit status.
    enum class Stop {
        kNone = 0,
        kHopeless = 1,  ///< restarts lead nowhere; the status is that of what failed
        kAway = 4,      ///< the server does not answer
        kStuck = 5,     ///< what was started can't run
        kTimeout = 124,
        kInterrupt = 130,
        kReaderGone = 141,
        kTerminate = 143
    };

    struct Options {
        std::string logs_dir;
        std::optional<Duration> timeout;
        bool collect_objects = false;  ///< for --output
        /// After how many equal failures in a row restarts count as hopeless; 0: never. On one
        /// machine the run ends then.
        int give_up_after = 3;
        /// Others use the server too, and the connection to it may break.
        bool on_cluster = false;
        bool ranks = false;  ///< in lines of logs, pods are called "worker-0"
        /// How long a stop waits until what it deletes is gone; unset: it waits for processes to end,
        /// as long as it takes.
        std::optional<Duration> stop_timeout = std::nullopt;
        /// Whether jobs that have ended are deleted on a cluster; empty: they stay.
        std::function<bool(bool succeeded)> removes_ended = nullptr;
        /// Awaited when everything has ended, or was stopped, before anything is removed.
        std::function<Task<void>()> before_removal = nullptr;
    };

    RunSession(asio::any_io_executor executor, Clock& clock, Rng& rng, kube::Client& client,
               Console& console, std::vector<manifest::CheckedObject> objects, Options options);
    ~RunSession();

    /// Returns the exit status. Problems of the objects are kept in problems().
    Task<int> run();
    /// Ends the run early; a second call stops waiting for the processes.
    void stop(Stop why);

    const std::vector<manifest::Problem>& problems() const { return submission_.problems(); }
    /// Why the server could not be used, if nothing could be started.
    const std::optional<Error>& failure() const { return failure_; }
    /// Why it was ended early.
    Stop stopped() const { return stop_; }
    /// How each job ended, once run() has returned.
    const std::vector<Verdict>& verdicts() const { return verdicts_; }
    /// A verdict in words, with the last lines of what failed.
    std::vector<Told> told(const Verdict& verdict) const;
    /// Whether all objects are on the server, or were.
    bool posted() const { return phase_ == Phase::kPosted; }
    /// The server has no job of this run any more, though no watch has told so: each that has not
    /// ended is lost.
    void lose_jobs();
    /// Whether someone else deleted one of them.
    bool lost_any() const { return std::ranges::any_of(posted_, &Posted::lost); }
    const RunWatcher& watcher() const { return watcher_; }
    const LogFollower& logs() const { return logs_; }
    const RunHistory& history() const { return history_; }
    /// Notified when any of them changes.
    Signal& changed() { return changed_; }
    /// How many changes of jobs, pods and events there were.
    std::uint64_t changes() const { return changes_; }
    /// The final states of the posted objects.
    const std::vector<json::value>& final_objects() const { return final_objects_; }

  private:
    struct Posted {
        std::size_t object;  ///< index into objects_
        std::string uid;
        std::optional<Instant> ended = {};
        std::optional<JobView> job = {};  ///< its last state, even if it is gone
        std::optional<PodView> pod = {};  ///< likewise
        bool lost = false;                ///< someone else deleted it
        bool removed = false;             ///< by us: the server said so, or a watch does
    };
    enum class Phase { kPosting, kPosted, kRefused };

    void check_time();
    void check_crash_loop();
    Task<void> post();
    Task<bool> try_to_post();
    void job_changed(const JobView* before, const JobView* after);
    void pod_changed(const PodView* before, const PodView* after);
    void lose(Posted& posted);
    Posted* posted_with(const std::string& uid);
    void tell_unattended();
    Task<void> tick();
    Task<void> wake_at(Instant deadline);
    void show_progress();
    std::string progress_text() const;
    bool all_ended() const;
    bool pods_running() const;
    std::vector<std::string> leaving_pods() const;
    Task<void> linger();
    std::vector<std::string> kept_pods() const;
    Task<void> wait_for_kept_pods();
    Task<void> collect();
    std::vector<Verdict> make_verdicts() const;
    int tell_verdicts(const std::vector<Verdict>& verdicts);
    Task<void> leave(bool succeeded);
    Task<void> remove_all();
    Task<void> give_up_at(Instant deadline);
    Task<void> remove(Posted& posted);
    void tell_what_stays();
    void tell_what_runs_on();

    Clock& clock_;
    kube::Client& client_;
    Console& console_;
    const std::vector<manifest::CheckedObject> objects_;
    const Options options_;
    TaskGroup tasks_;
    Signal changed_;
    RunHistory history_;
    LogFollower logs_;
    RunWatcher watcher_;
    Submission submission_;
    Phase phase_ = Phase::kPosting;
    std::optional<Error> failure_;
    std::string told_progress_;   ///< where each line stays: without the time
    std::vector<Posted> posted_;  ///< jobs and pods of the manifest
    std::size_t removing_ = 0;
    std::uint64_t changes_ = 0;
    std::vector<Verdict> verdicts_;
    std::vector<json::value> final_objects_;
    Instant started_{};
    std::optional<Instant> unattended_at_;  ///< when to report a job on which nothing has acted
    bool waits_for_pods_ = false;           ///< of jobs that have ended
    bool told_crash_loop_ = false;
    Stop stop_ = Stop::kNone;
    bool impatient_ = false;
};

}  // namespace muster::cli
