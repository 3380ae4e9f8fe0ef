#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "job_protocol/failure.h"
#include "job_protocol/job_record.h"
#include "job_protocol/node_check.h"
#include "job_protocol/terms.h"
#include "job_protocol/world.h"

namespace muster::job_protocol {

/// All that is so on a node. Told on each change, and with each join.
struct Report {
    /// Of its workers, also when they have ended by themselves. Nothing: it has none.
    std::optional<World> holds = {};
    /// The newest generation whose workers were told to stop here: it can't go on.
    std::optional<Generation> gave_up = {};
    /// For the world that it holds, or is told to: only the agent of group rank 0 has one.
    std::optional<Generation> store_ready = {};
    bool done = false;  ///< all of its workers ended with 0
    /// In their order: of attempts after which this node restarted by itself, and of this one.
    std::vector<FailureReport> evidence = {};
    std::optional<std::uint64_t> steps = {};
    std::string leaving = {};                 ///< why it goes; empty: it stays
    std::optional<CheckResult> checked = {};  ///< of the newest check that it was told to make

    friend bool operator==(const Report&, const Report&) = default;
};

/// An agent that joins, for the first time or again.
struct Hello {
    std::string incarnation;   ///< another for each life of an agent
    std::optional<Slot> slot;  ///< that it was given; without one it gets a free one
    int local_size = 1;
    std::string address;  ///< where its workers and its store are reached
    int store_port = 0;
    std::string rack = {};
    std::string name = {};         ///< for people: "worker-3"
    std::uint64_t epoch_seen = 0;  ///< the newest master that it heard of
    Report report = {};
    int check_port = 0;            ///< at which it answers probes; 0: it takes no part in a check
    bool can_host_master = false;  ///< the master after this one may be on its node
    std::vector<std::string> addresses = {};  ///< its others, as Member has them
    std::optional<Terms> terms = {};          ///< as its node was told; an older agent says nothing
    std::string pod = {};                     ///< the name of the pod that it runs in; empty: none
    std::string host = {};  ///< the name of that pod's node in the cluster; empty: not known
};

/// Nothing is to run.
struct Wait {
    bool standby = false;   ///< others run; it takes a place that becomes free
    std::string text = {};  ///< whom it waits for

    friend bool operator==(const Wait&, const Wait&) = default;
};

/// Its workers of that world are to run, and none of another.
struct Run {
    World world;  ///< as_told_to() it
    /// World::restarts to which a node that is the whole world may count on its own while no master
    /// is there: what is left of the budget.
    int most_restarts = 0;

    friend bool operator==(const Run&, const Run&) = default;
};

/// That generation has ended, and all before it; the next is not there yet.
struct Stop {
    Generation generation;

    friend bool operator==(const Stop&, const Stop&) = default;
};

/// What holds for one agent.
struct Directive {
    using What = std::variant<Wait, Run, Stop, Verdict, Check>;

    std::uint64_t epoch = 0;  ///< of the master that says so; who has heard a newer one refuses it
    What what;
    std::string why = {};                  ///< workers of another world stop
    std::chrono::milliseconds grace = {};  ///< that they have for it
    /// To a node that may host the next master: what that continues with. Another for each version.
    std::shared_ptr<const JobRecord> record = {};

    friend bool operator==(const Directive&, const Directive&) = default;
};

}  // namespace muster::job_protocol
