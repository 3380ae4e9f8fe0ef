#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/async/task_group.h"
#include "kube/client/client.h"
#include "kube/client/event_recorder.h"
#include "kube/objects/pod.h"
#include "runtime/internal/scheduling/scheduling.h"

namespace muster::runtime {

/// Binds pods without a node to this one, as far as they fit (scheduling.h decides), and writes on
/// the others what they wait for. The pods of a job start together if they have the annotation
/// muster.dev/gang-size. Thread: the loop.
class Scheduler {
  public:
    Scheduler(kube::Client& client, Clock& clock, TaskGroup& tasks, kube::EventRecorder& events,
              std::string node_name, SchedulingNode node);

    /// From the informer; null for none.
    void pod_changed(const kube::Pod* before, const kube::Pod* after);
    /// spec.unschedulable of our node. Nothing is bound until this is known.
    void node_changed(bool unschedulable);

  private:
    /// Pods that start together.
    struct Gang {
        std::set<std::string> pods;  ///< uids of all that exist, including ended ones
        std::size_t size = 1;
        bool admitted = false;  ///< one of them has been bound
    };
    struct Known {
        SchedulingPod pod;
        kube::ObjectReference reference;
        std::vector<kube::PodCondition> conditions;
        bool pending = false;   ///< waits for a node
        bool assigned = false;  ///< a binding was sent, and its result is not known yet
        bool deleting = false;
    };

    Known read(const kube::Pod& pod) const;
    void count_in_gang(const kube::Pod& pod, bool exists);
    /// Whether scheduling again can change anything: not while a new gang is still growing.
    bool worth_a_look(const Known& known) const;

    void look_again();
    Task<void> run();
    Task<void> bind(std::string key, kube::ObjectReference pod);
    void binding_failed(const std::string& key, const kube::ObjectReference& pod,
                        const std::string& why);
    Task<void> look_later();
    Task<void> mark_unschedulable(std::string key, kube::ObjectReference pod, std::string message);
    Task<void> remove(kube::ObjectReference pod);

    kube::Client& client_;
    Clock& clock_;
    TaskGroup& tasks_;
    kube::EventRecorder& events_;
    std::string node_name_;
    SchedulingNode node_;
    std::map<std::string, Known> pods_;
    std::map<std::string, Gang> gangs_;
    bool node_known_ = false;
    bool running_ = false;
    bool will_look_ = false;  ///< look_later() waits
};

}  // namespace muster::runtime
