#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/async/task_group.h"
#include "base/rng.h"
#include "base/time/clock.h"
#include "kube/client/client.h"
#include "kube/client/reflector.h"
#include "master/service/service.h"

namespace muster::master_process {

/// Which job is followed, and whose replicas are nodes.
struct FollowedJob {
    kube::ResourceType type;
    std::string namespace_;
    std::string name;
    std::vector<std::string> node_types;  ///< of replicas: "worker", "chief"
    std::string server_type = "ps";       ///< of parameter servers
};

/// "elasticjobs.v1alpha1.elastic.iml.github.io", as kubectl has it. kInvalid for another text.
Result<kube::ResourceType> resource_of(std::string_view text);

/// What the operator wants of some replica types by now.
struct WantedRanks {
    int number = 0;  ///< a rank that one replica takes over from another counts once
    /// Those whose replica is not the first one: it has taken over the rank, or is about to.
    std::set<int> of_successors = {};

    friend bool operator==(const WantedRanks&, const WantedRanks&) = default;
};

/// The ranks in `status.members` of these types. nullopt: the status does not say. Pure.
std::optional<WantedRanks> wanted_ranks(const json::value& job,
                                        const std::vector<std::string>& types);

/// Follows a job in the API, for the numbers of nodes and of parameter servers that it is to have, and
/// for who takes over from whom. Agents and servers were told numbers at their start, so that theirs are
/// old once `replicas` has changed. While the API is away, what was seen last holds.
///
/// Client, clock and the group of start() outlive this. Thread: the client's.
class WantedNodes {
  public:
    WantedNodes(kube::Client& client, Clock& clock, Rng& rng, FollowedJob job);

    /// To be called once.
    void start(TaskGroup& tasks) { reflector_.start(tasks); }
    /// What passes on to a master's job what is new. This outlives it.
    std::unique_ptr<master::Service> service(const master::ServiceContext& context);

  private:
    class Teller;
    struct Wanted {
        std::optional<WantedRanks> nodes;
        std::optional<WantedRanks> servers;

        friend bool operator==(const Wanted&, const Wanted&) = default;
    };

    void see(const json::value& job);

    FollowedJob job_;
    Wanted wanted_;
    std::function<void()> wake_;  ///< the master that is in charge; may be empty
    kube::Reflector reflector_;
};

}  // namespace muster::master_process
