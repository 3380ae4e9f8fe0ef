#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "kube/client/informer.h"
#include "workloads/internal/pods/pod_facts.h"

namespace muster::workloads {

/// The pods of Jobs and ReplicaSets by the object that controls them, kept current by a watch, and
/// what we have just asked for and the watch has not shown yet. The watch begins when the first
/// workload needs it: a server without workloads does not pay for it. Thread: the loop of the group.
class PodTable {
  public:
    /// What controls a pod: its kind and the name of a queue's key.
    using Touched = std::function<void(const PodFacts& pod, std::size_t siblings)>;

    PodTable(kube::Client& client, Clock& clock, Rng& rng, TaskGroup& tasks);

    /// Called for each change of a pod of that kind of owner. Before ready().
    void on_touched(std::string owner_kind, Touched touched);

    /// Returns once all pods are known.
    Task<void> ready();

    struct Seen {
        std::vector<PodPtr> pods;
        /// Some pods of ours were not shown by the watch yet. If that lasts for longer than
        /// kLongestLag they are forgotten: look again then.
        bool complete = true;
    };
    static constexpr Duration kLongestLag = std::chrono::seconds(30);
    /// `owner`: of any uid, so that what a former object of this name left is found, too.
    Seen of(std::string_view owner_kind, const kube::NamespacedName& owner);

    /// We have made this pod.
    void made(const json::value& pod);
    /// We have deleted this pod.
    void removed(const PodFacts& pod);

  private:
    struct Assumed {
        PodPtr pod;
        Instant since;
    };

    static std::string owner_key(std::string_view kind, const kube::NamespacedName& owner) {
        return std::string(kind) + " " + owner.text();
    }
    static std::string owner_key(const PodFacts& pod) {
        return owner_key(pod.owner_kind, {pod.name.namespace_, pod.owner_name});
    }
    void changed(const std::string& key, const PodPtr* before, const PodPtr* after);
    void take_out(const PodFacts& pod);
    void forget_old();

    Clock& clock_;
    TaskGroup& tasks_;
    kube::Informer<PodPtr> informer_;
    bool started_ = false;
    std::map<std::string, Touched, std::less<>> touched_;
    /// By owner, then by the pod's name.
    std::unordered_map<std::string, std::map<std::string, PodPtr>> by_owner_;
    std::map<std::string, Assumed> made_;     ///< by key; not shown by the watch yet
    std::map<std::string, Assumed> removed_;  ///< by uid; the watch still shows them as they were
};

}  // namespace muster::workloads
