#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "cli/internal/run/views.h"
#include "kube/client/client.h"
#include "kube/client/informer.h"
#include "manifest/check.h"

namespace muster::cli {

/// Watches the jobs and pods of a manifest, the pods of those jobs, and the warnings about all of
/// them. An API server also has objects of others: those that belong to no add()ed object are not
/// reported. Objects that were seen before their owner was added are reported then. Thread: the
/// loop of the task group.
class RunWatcher {
  public:
    /// Null: the object is new, or gone. Events have no end.
    struct Handlers {
        std::function<void(const JobView* before, const JobView* after)> job;
        std::function<void(const PodView* before, const PodView* after)> pod;
        std::function<void(const EventView* before, const EventView& after)> event;
    };

    /// One watch for each job, each pod, the pods of all jobs of a namespace, and its warnings.
    RunWatcher(kube::Client& client, Clock& clock, Rng& rng,
               const std::vector<manifest::CheckedObject>& objects, Handlers handlers);

    void start(TaskGroup& tasks);
    /// Returns once everything is watched, or with the reason why jobs or pods can't be.
    Task<Result<void>> wait_settled();
    /// Why warnings are not watched; null if they are.
    const Error* events_refusal() const;

    /// The job or pod with this uid is ours.
    void add(const std::string& uid);

    /// Existing ones by uid.
    const std::map<std::string, JobView>& jobs() const { return jobs_; }
    const std::map<std::string, PodView>& pods() const { return pods_; }

  private:
    template <class T>
    using Informers = std::vector<std::unique_ptr<kube::Informer<T>>>;

    void watch_pods(kube::ListOptions options);
    void job_changed(const JobView* before, const JobView* after);
    void pod_changed(const PodView* before, const PodView* after);
    void pod_seen(const PodView& pod);
    void tell_events_about(const std::string& uid);

    kube::Client& client_;
    Clock& clock_;
    Rng& rng_;
    Handlers handlers_;
    Informers<JobView> job_informers_;
    Informers<PodView> pod_informers_;
    Informers<EventView> event_informers_;
    std::set<std::string> added_;
    std::set<std::string> known_;  ///< added ones, and our pods, including those that are gone
    std::map<std::string, JobView> jobs_;
    std::map<std::string, PodView> pods_;
    /// Those that were deleted before they were added: the answer to a creation may come after the
    /// news of a deletion.
    std::map<std::string, JobView> gone_jobs_;
    std::map<std::string, PodView> gone_pods_;
};

}  // namespace muster::cli
