#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/rng.h"
#include "base/signal.h"
#include "base/task_group.h"
#include "cli/check.h"
#include "cli/command_line.h"
#include "cli/internal/run/chronicle.h"
#include "cli/internal/run/log_follower.h"
#include "cli/internal/run/screen.h"
#include "cli/internal/run/views.h"
#include "kube/client.h"
#include "kube/informer.h"

namespace muster::cli {

/// One run against an API server: posts the objects, tells what happens to them, ends when the jobs
/// have ended or when it is told to, and leaves nothing running that it posted.
///
///   post -> follow -> [all ended] -> linger -> verdict -> remove what still runs
///                  \-> [stop()]  ----------------------^
///
/// Thread: one loop.
class RunSession {
  public:
    /// How a run that did not end by itself ended; the value is the exit status.
    enum class Stop {
        kNone = 0,
        kTimeout = 124,
        kInterrupt = 130,
        kReaderGone = 141,
        kTerminate = 143
    };

    struct Options {
        std::string logs_dir;
        std::optional<Duration> timeout;
        bool collect_objects = false;  ///< for --output
    };

    RunSession(asio::any_io_executor executor, Clock& clock, Rng& rng, kube::Client& client,
               Screen& screen, std::vector<CheckedObject> objects, Options options);
    ~RunSession();

    /// The exit status. Problems of the objects are kept in problems().
    Task<int> run();
    /// Ends the run early; a second call stops waiting for the processes.
    void stop(Stop why);

    const std::vector<Problem>& problems() const { return problems_; }
    /// The posted objects as they were at the end.
    const std::vector<json::value>& final_objects() const { return final_objects_; }

  private:
    struct Posted {
        std::size_t object;  ///< index into objects_
        std::string uid;
        std::string key;  ///< namespace/name
        std::optional<Instant> ended;
    };
    template <class T>
    using Informers = std::vector<std::unique_ptr<kube::Informer<T>>>;

    Task<bool> post();
    Task<bool> make_namespaces();
    Task<bool> post_all(bool dry_run);
    void refuse(const CheckedObject& object, const Error& error);
    void watch();
    void pod_changed(const PodView* before, const PodView* after);
    void job_changed(const JobView* before, const JobView* after);
    Task<void> tick();
    Task<void> wake_at(Instant deadline);
    void show_progress();
    std::string progress_text() const;
    bool all_ended() const;
    bool pods_running() const;
    Task<void> linger();
    Task<void> collect();
    std::vector<Verdict> make_verdicts() const;
    int tell_verdicts(const std::vector<Verdict>& verdicts);
    Task<void> remove_all();

    Clock& clock_;
    kube::Client& client_;
    Rng& rng_;
    Screen& screen_;
    std::vector<CheckedObject> objects_;
    Options options_;
    TaskGroup tasks_;
    Signal changed_;
    Chronicle chronicle_;
    std::unique_ptr<LogFollower> logs_;
    std::unique_ptr<kube::Informer<PodView>> pods_;
    std::unique_ptr<kube::Informer<EventView>> events_;
    Informers<JobView> jobs_;
    std::map<std::string, JobView> job_states_;  ///< by uid, of the posted ones
    std::string told_progress_;                  ///< where each line stays: without the time
    std::vector<Posted> posted_;                 ///< jobs and pods of the manifest
    std::vector<Problem> problems_;
    std::vector<json::value> final_objects_;
    Instant started_{};
    Stop stop_ = Stop::kNone;
    bool impatient_ = false;
};

}  // namespace muster::cli
