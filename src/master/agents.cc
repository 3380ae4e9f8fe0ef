#include "master/agents.h"

#include <algorithm>

namespace muster::master {

FailureReport loss_of(const Agent& agent, Slot slot, const World& world, FailureReport how) {
    how.generation = world.generation;
    how.restarts = world.restarts;
    how.slot = slot;
    how.node = agent.hello.address;
    return how;
}

Agents::Joined Agents::join(Hello hello) {
    const auto [at, is_new] = all_.try_emplace(hello.incarnation);
    at->second.hello = std::move(hello);
    return {.agent = at->second, .is_new = is_new};
}

Agent* Agents::find(const std::string& incarnation) {
    const auto found = all_.find(incarnation);
    return found == all_.end() ? nullptr : &found->second;
}

const Agent* Agents::find(const std::string& incarnation) const {
    const auto found = all_.find(incarnation);
    return found == all_.end() ? nullptr : &found->second;
}

void Agents::remove(const std::string& incarnation) {
    const auto found = all_.find(incarnation);
    if (found == all_.end()) return;
    came_back(found->second);
    claimers_.erase(incarnation);
    all_.erase(found);
}

void Agents::disconnected(Agent& agent, std::string why, Instant until) {
    agent.away_until = until;
    agent.why_away = std::move(why);
    away_.emplace(until, agent.incarnation());
}

void Agents::came_back(Agent& agent) {
    if (!agent.away_until) return;
    away_.erase({*agent.away_until, agent.incarnation()});
    agent.away_until.reset();
}

const Agent* Agents::overdue(Instant now) const {
    return next_overdue() <= now ? &all_.at(away_.begin()->second) : nullptr;
}

void Agents::claims(Agent& agent, Instant until) {
    agent.claims_until = until;
    claimers_.insert(agent.incarnation());
}

void Agents::claims_no_more(Agent& agent) {
    claimers_.erase(agent.incarnation());
    agent.claims_until.reset();
}

Instant Agents::next_overdue() const {
    return away_.empty() ? Instant::max() : away_.begin()->first;
}

Instant Agents::next_claim() const {
    Instant next = Instant::max();
    for (const std::string& incarnation : claimers_)
        next = std::min(next, *all_.at(incarnation).claims_until);
    return next;
}

}  // namespace muster::master
