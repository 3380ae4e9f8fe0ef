#pragma once

#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "kube/client/informer.h"

namespace muster::workloads {

/// Which ReplicaSets there are and the Deployments that control them, kept current by a watch. What
/// is in them is read from the API when it is needed. Thread: the loop of the group.
class ReplicaSetTable {
  public:
    struct Record {
        kube::NamespacedName name;
        std::string deployment;  ///< empty: none controls it
    };
    using Changed = std::function<void(const Record& record)>;

    ReplicaSetTable(kube::Client& client, Clock& clock, Rng& rng);

    /// Before start().
    void on_change(Changed changed) { changed_.push_back(std::move(changed)); }
    void start(TaskGroup& tasks) { informer_.start(tasks); }
    Task<void> wait_synced() { return informer_.wait_synced(); }

    /// The names of those that a Deployment of this name controls, of any uid.
    std::vector<std::string> of_deployment(const kube::NamespacedName& name) const;
    /// The Deployment that controls it; empty: none.
    std::string deployment_of(const kube::NamespacedName& set) const;

  private:
    void take_in(const Record* before, const Record* after);

    kube::Informer<Record> informer_;
    std::vector<Changed> changed_;
    std::unordered_map<std::string, std::set<std::string>> by_deployment_;
};

}  // namespace muster::workloads
