#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "master/job.h"

namespace muster::master {

// Who is there: agents that join, come back, claim a slot, and are lost.

Result<void> Job::joined(Hello hello, Instant now, WallTime wall) {
    if (hello.epoch_seen > record_.epoch)
        return Error(Code::kConflict,
                     fmt::format("epoch {} is over: an agent has heard of epoch {}", record_.epoch,
                                 hello.epoch_seen));
    const std::string incarnation = hello.incarnation;
    const auto known = agents_.find(incarnation);
    Agent& agent = known != agents_.end() ? known->second : agents_[incarnation];
    agent.hello = std::move(hello);
    changed(incarnation);
    if (known != agents_.end())
        back(agent);
    else
        admit(agent, now, wall);
    read(agent, now, wall);
    return {};
}

void Job::back(Agent& agent) {
    if (!agent.away_until) return;
    away_.erase({*agent.away_until, agent.hello.incarnation});
    agent.away_until.reset();
}

void Job::refuse(Agent& agent, std::string text) {
    claimers_.erase(agent.hello.incarnation);
    agent.claims_until.reset();
    agent.refused = Verdict{.kind = Verdict::Kind::kExcluded, .text = std::move(text)};
    changed(agent.hello.incarnation);
}

/// A worker of the attempt that the node has; one before it was begun anew there.
bool Job::has_failed(const Report& report) {
    return report.holds && std::ranges::any_of(report.evidence, [&](const FailureReport& seen) {
               return seen.generation == report.holds->generation &&
                      seen.restarts == report.holds->restarts;
           });
}

void Job::admit(Agent& agent, Instant now, WallTime wall) {
    const Hello& hello = agent.hello;
    if (end() || !hello.report.leaving.empty()) return;
    if (gone_when_done_.erase(hello.incarnation) > 0) return;
    Node node{.incarnation = hello.incarnation,
              .slot = hello.slot,
              .address = hello.address,
              .local_size = hello.local_size,
              .rack = hello.rack,
              .store_port = hello.store_port,
              .holds = hello.report.holds,
              .gave_up = hello.report.gave_up,
              .failed = has_failed(hello.report)};
    if (hello.report.holds) agent.ran = hello.report.holds->generation;
    if (node.holds) {
        // Its own, or of the agent whose workers it took over.
        const std::string before = node.holds->own().incarnation;
        if (before != hello.incarnation && agents_.contains(before)) {
            if (const auto slot = members_.succeed(before, node)) {
                back(agents_.at(before));
                agents_.erase(before);
                done_.erase(before);  // The new one says it anew, and is another.
                if (const auto place = places_.extract(before))
                    places_.emplace(hello.incarnation, place.mapped());
                replace_store(now);
                return;
            }
        }
    }
    if (!members_.is_rejoining()) {
        if (node.slot && !was_moved_to(*node.slot) && !claim(agent, now, wall)) return;
        // Also by the claim: a spare is there at once where the one before it was away.
        if (node.slot && was_moved_to(*node.slot)) node.slot.reset();
        if (node.holds && !node.slot && members_.holder(node.holds->own().slot) == nullptr)
            node.slot = node.holds->own().slot;
    }
    if (const auto slot = members_.join(std::move(node)); !slot)
        refuse(agent, slot.error().message());
}

/// Who has the slot did not ask for it: it replaces somebody there, and has its workers.
bool Job::was_moved_to(Slot slot) const {
    const std::string* const holder = members_.holder(slot);
    if (holder == nullptr) return false;
    const auto agent = agents_.find(*holder);
    return agent != agents_.end() && agent->second.hello.slot != slot;
}

/// True: nobody else has its slot.
bool Job::claim(Agent& agent, Instant now, WallTime wall) {
    const std::string* const holder = members_.holder(*agent.hello.slot);
    if (holder == nullptr) return true;
    const auto other = agents_.find(*holder);
    bool is_done = other == agents_.end();  // And gone: its slot is free when the world ends.
    if (!is_done && other->second.away_until) {
        const Slot slot = *agent.hello.slot;
        lose(std::string(*holder), FailureKind::kDisconnected,
             "another agent has come in its place", now, wall);
        if (members_.holder(slot) == nullptr || was_moved_to(slot)) return true;
        is_done = true;
    }
    agent.claims_until = is_done ? Instant::max() : now + options_.claim;
    claimers_.insert(agent.hello.incarnation);
    return false;
}

void Job::look_at_claims(Instant now, WallTime wall) {
    const std::vector<std::string> claimers(claimers_.begin(), claimers_.end());
    for (const std::string& incarnation : claimers) {
        Agent& agent = agents_.at(incarnation);
        const Slot slot = *agent.hello.slot;
        const std::string* const holder = members_.holder(slot);
        if (holder == nullptr || was_moved_to(slot)) {
            claimers_.erase(incarnation);
            agent.claims_until.reset();
            admit(agent, now, wall);
            changed(incarnation);
        } else if (now >= *agent.claims_until) {
            const Hello& other = agents_.at(*holder).hello;
            refuse(agent, fmt::format("slot {} is held by the agent {} at {}, which is alive: give "
                                      "each node a --node-rank of its own, or none",
                                      slot, other.name, other.address));
        }
    }
}

void Job::broke(const std::string& incarnation, const std::string& why, Instant now) {
    const auto found = agents_.find(incarnation);
    if (found == agents_.end() || found->second.away_until) return;
    found->second.away_until = now + options_.reconnect;
    found->second.why_away = why;
    away_.emplace(now + options_.reconnect, incarnation);
}

void Job::silent(const std::string& incarnation, const std::string& why, Instant now,
                 WallTime wall) {
    if (agents_.contains(incarnation)) lose(incarnation, FailureKind::kTimedOut, why, now, wall);
}

FailureReport Job::of_node(const Agent& agent, FailureKind kind, const std::string& why,
                           WallTime wall) const {
    const World& world = *members_.world();
    return {.kind = kind,
            .generation = world.generation,
            .restarts = world.restarts,
            .slot = members_.slot_of(agent.hello.incarnation).value_or(0),
            .node = agent.hello.address,
            .error = why,
            .when = wall};
}

void Job::lose(const std::string& incarnation, FailureKind kind, const std::string& why,
               Instant now, WallTime wall) {
    Agent& agent = agents_.at(incarnation);
    if (precheck_) precheck_->lost(incarnation);
    back(agent);
    claimers_.erase(incarnation);
    if (done_.contains(incarnation)) {
        gone_when_done_.insert(incarnation);
    } else if (is_member(incarnation) && members_.world() != nullptr) {
        decide(of_node(agent, kind, why, wall), incarnation, now, wall);
        members_.lost(incarnation, now);
    } else {
        members_.lost(incarnation, now);
    }
    agents_.erase(incarnation);
}

}  // namespace muster::master
