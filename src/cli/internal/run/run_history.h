#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/internal/run/crash_loop.h"
#include "cli/internal/run/event_text.h"
#include "cli/internal/run/views.h"
#include "kube/values/namespaced_name.h"

namespace muster::cli {

/// A container that ended badly, or a pod that failed without one. A container that ends because
/// its pod is stopped does not count.
struct Failure {
    std::string pod_uid;
    std::string pod;
    std::string container;  ///< empty: the pod itself failed
    int instance = 0;       ///< of the container: how often it had been restarted
    std::optional<TerminationView> termination;
    std::string reason;  ///< of the pod, if there is no termination

    int exit_code() const;
};

/// A container of which the kernel killed processes because memory ran out, whether it survived that
/// or not.
struct OutOfMemory {
    std::string pod;
    std::string container;
    std::string limit;  ///< empty: none

    friend bool operator==(const OutOfMemory&, const OutOfMemory&) = default;
};

/// How a job (or a bare pod) ended.
struct Verdict {
    std::string name;  ///< "PyTorchJob default/digits"
    bool succeeded = false;
    std::string result;  ///< "succeeded", "failed", "interrupted", "timed out"
    double seconds = 0;
    int restarts = 0;
    int group_restarts = 0;          ///< of all pods together; `restarts` then counts each of them
    std::string condition;           ///< of the condition that ended it: reason and message
    std::optional<Failure> failure;  ///< of the first pod that no restart made up for
    std::optional<Failure> earlier;  ///< of another container of that pod, which did not decide
    std::vector<OutOfMemory> out_of_memory;  ///< but for the two above, in the order of time
    std::string event;                       ///< the last warning about it; empty: none says more
    int exit_code = 0;
};

/// Remembers what a run's verdict needs, in order. Pure.
class RunHistory {
  public:
    void pod_changed(const PodView* before, const PodView* after);
    void event_changed(const EventView& event);

    Verdict verdict(const JobView& job) const;
    Verdict verdict(const PodView& pod) const;
    int restarts(const std::string& owner_uid) const;
    /// A container that has failed in the same way so often in a row.
    std::optional<CrashLoop> crash_loop(int times) const { return crash_loops_.find(times); }
    /// The last warning about an object; "" without one.
    std::string warning_about(const std::string& uid) const;

  private:
    struct PodRecord {
        PodView last;
        std::vector<Failure> failures;
    };
    void note_failures(PodRecord& record, const PodView* before, const PodView& after);
    void note_out_of_memory(const std::string& pod_uid, const std::string& container);
    void find_failure(Verdict& verdict, const std::function<bool(const PodView&)>& belongs) const;
    void find_out_of_memory(Verdict& verdict,
                            const std::function<bool(const PodView&)>& belongs) const;
    std::string last_warning(const std::optional<Failure>& failure,
                             const std::string& owner_uid) const;

    std::map<std::string, PodRecord> pods_;               ///< by uid, including those that are gone
    std::vector<std::pair<std::string, Failure>> order_;  ///< pod uid and failure, oldest first
    std::map<kube::NamespacedName, std::vector<std::string>> uids_;  ///< of its incarnations
    std::vector<EventView> events_;
    CrashLoops crash_loops_;
    std::vector<std::pair<std::string, std::string>> out_of_memory_;  ///< pod uid and container
};

/// The lines of a verdict, with the last lines of the failed container's log.
std::vector<Told> tell_verdict(const Verdict& verdict, const std::vector<std::string>& last_lines);

}  // namespace muster::cli
