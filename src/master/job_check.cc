#include <fmt/format.h>

#include <algorithm>

#include "master/job.h"

namespace muster::master {

// The check of nodes, as a job goes through it before its first world.

/// True: it is over, and a first world may be made of whom it left.
bool Job::check_nodes(Instant now, WallTime wall) {
    if (!precheck_ || precheck_->is_over()) return false;
    if (!precheck_->has_begun()) {
        if (!members_.is_held()) return false;
        std::vector<CheckedNode> nodes;
        for (const auto& [incarnation, agent] : agents_)
            if (const auto slot = members_.slot_of(incarnation))
                nodes.push_back({.incarnation = incarnation,
                                 .slot = *slot,
                                 .address = agent.hello.address,
                                 .port = agent.hello.check_port});
        std::ranges::sort(nodes, {}, &CheckedNode::slot);
        precheck_->begin(std::move(nodes), now);
        waiting_ = "the nodes of the job are checked before they run";
        changed_.all = true;
    }
    if (precheck_->advance(now)) changed_.all = true;
    if (!precheck_->is_over()) return false;
    waiting_ = "the nodes of the job gather";
    lines_ = check_table(*precheck_);
    take_out(*precheck_, wall, now);
    members_.hold_first(false);
    return !end();
}

/// Who is faulty, and who is slow where that was asked for.
void Job::take_out(const NodeCheck& check, WallTime wall, Instant now) {
    std::vector<NodeCheck::Named> out = check.faulty();
    if (check.options().exclude_slow)
        for (const NodeCheck::Named& slow : check.slow())
            out.push_back({.node = slow.node, .why = "it is slow: " + slow.why});
    std::optional<FailureReport> first;
    std::string all;
    for (const NodeCheck::Named& named : out) {
        const std::string& incarnation = check.nodes()[named.node].incarnation;
        const auto agent = agents_.find(incarnation);
        if (agent == agents_.end()) continue;
        const FailureReport evidence{.kind = FailureKind::kCheckFailed,
                                     .slot = check.nodes()[named.node].slot,
                                     .node = agent->second.hello.address,
                                     .error = named.why,
                                     .when = wall};
        // The first is charged; what the same check names besides belongs to its incident.
        const auto decision = policy_.decide(evidence, {}, wall);
        if (decision && decision->charged) charge(*decision->charged, wall);
        if (decision && decision->action == Action::kFail)
            return finish(
                {.kind = Verdict::Kind::kFailed, .text = decision->text, .cause = evidence});
        if (!first) first = evidence;
        all += (all.empty() ? "" : "; ") + describe(evidence);
        members_.exclude(incarnation, now);
        record_.excluded.push_back(incarnation);
        record_changed();
        refuse(agent->second, describe(evidence) + "; it is left out of the job");
    }
    if (!first) return;
    if (members_.usable() < members_.least())
        finish({.kind = Verdict::Kind::kFailed,
                .text = fmt::format("the node check leaves {} of at least {} nodes: {}",
                                    members_.usable(), members_.least(), all),
                .cause = first});
}

}  // namespace muster::master
