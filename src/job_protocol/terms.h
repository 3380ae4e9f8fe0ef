#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "job_protocol/failure.h"
#include "job_protocol/failure_budget.h"

namespace muster::job_protocol {

/// How many incidents of one charge a job may have.
struct BudgetTerm {
    Charge charge = Charge::kWorker;
    int incidents = 0;
    std::chrono::seconds window = {};  ///< of calendar time in which they count; zero: forever

    friend bool operator==(const BudgetTerm&, const BudgetTerm&) = default;
};

/// What the node check looks at before the first world.
enum class NodeCheckKind : std::uint8_t { kNone, kNodes, kLinks };

/// What a job keeps to, as one of its nodes was told by flags and variables. A master that runs
/// beside an agent has that agent's; one in a process of its own has them from the nodes that join.
struct Terms {
    int min_nodes = 1;
    int max_nodes = 1;
    int node_unit = 1;
    bool grow_at_failure = false;
    std::chrono::milliseconds last_call = std::chrono::seconds(30);
    std::chrono::milliseconds silence = std::chrono::seconds(5);  ///< then a node counts as lost
    /// From SIGTERM to SIGKILL: for workers whose peers are gone, and for healthy ones.
    std::chrono::milliseconds broken_grace = std::chrono::seconds(2);
    std::chrono::milliseconds healthy_grace = std::chrono::seconds(30);
    std::vector<BudgetTerm> budgets = {};  ///< those that have a limit
    PolicyOptions policy = {};
    NodeCheckKind check = NodeCheckKind::kNone;
    bool exclude_slow = false;  ///< nodes that the check finds slow

    friend bool operator==(const Terms&, const Terms&) = default;
};

}  // namespace muster::job_protocol
