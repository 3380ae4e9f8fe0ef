#include "sim/elastic/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

namespace muster::sim::elastic {
namespace {

using job_protocol::Charge;
using job_protocol::FailureKind;
using job_protocol::Generation;
using job_protocol::Incident;
using job_protocol::Verdict;

bool is_of_node(FailureKind kind) {
    return kind == FailureKind::kDisconnected || kind == FailureKind::kTimedOut;
}

Charge charge_of(FailureKind kind) {
    if (is_of_node(kind)) return Charge::kNode;
    return kind == FailureKind::kOutOfMemory ? Charge::kMemory : Charge::kWorker;
}

}  // namespace

std::string Invariants::name(const Generation& generation, int restarts) {
    return fmt::format("({},{})#{}", generation.epoch, generation.number, restarts);
}

bool Invariants::has_ended(Verdict::Kind how) const {
    return std::ranges::any_of(kept_,
                               [&](const Kept& kept) { return kept.end && kept.end->kind == how; });
}

// ---- worlds

Invariants::Known& Invariants::known(const job_protocol::World& world) {
    auto [found, is_new] = worlds_.try_emplace(world.generation);
    if (is_new) {
        look_at_last(world);
        found->second = {
            .nodes = world.nodes, .ranks = world.ranks, .masters = masters_, .since = clock_.now()};
    }
    return found->second;
}

/// With all of its members.
void Invariants::look_at_shape(const job_protocol::World& world) {
    const auto& limits = options_.membership;
    if (static_cast<int>(world.members.size()) != world.nodes)
        return wrong("worlds", "a store is started by a node that does not know all members");
    if (world.nodes < limits.min_nodes || world.nodes > limits.max_nodes ||
        world.nodes % limits.node_unit != 0)
        wrong("worlds",
              fmt::format("{} has {} nodes, where {}:{} by {} may be", name(world), world.nodes,
                          limits.min_nodes, limits.max_nodes, limits.node_unit));
    int ranks = 0;
    std::set<std::string> incarnations;
    std::set<job_protocol::Slot> slots;
    for (const job_protocol::Member& member : world.members) {
        if (member.first_rank != ranks)
            wrong("worlds", "ranks do not follow each other in " + name(world));
        ranks += member.local_size;
        incarnations.insert(member.incarnation);
        slots.insert(member.slot);
    }
    if (ranks != world.ranks || incarnations.size() != world.members.size() ||
        slots.size() != world.members.size())
        wrong("worlds",
              "an agent or a slot is in it twice, or its ranks are not counted: " + name(world));
    // A node that was cut off, and is its whole world, does not know, and may restart alone.
    if (end() && newest_kept().newest_at_end < world.generation &&
        !worlds_.contains(world.generation) && !masters_differ_.excuse(clock_.now(), clock_.now()))
        wrong("verdict", "there is a new world after the job's end: " + name(world));
}

/// A world is made: the one before it was charged, where its end was the program's fault alone and
/// the master that saw it is still there.
void Invariants::look_at_last(const job_protocol::World& world) {
    const auto last = std::ranges::find_if(worlds_.rbegin(), worlds_.rend(), [&](const auto& one) {
        return one.first.number + 1 == world.generation.number;
    });
    if (last == worlds_.rend()) return;
    const auto& [generation, before] = *last;
    if (!before.died || before.nodes == 1 || before.nodes < world.nodes ||
        before.masters != masters_ || has_excuse(before))
        return;
    if (!was_charged(generation, std::nullopt))
        wrong("charges",
              fmt::format("a worker of the generation ({},{}) died, and nothing was charged",
                          generation.epoch, generation.number));
}

void Invariants::store_began(const std::string& address, const job_protocol::World& world) {
    say(fmt::format("{}: the store is for {}", address, name(world)));
    look_at_shape(world);
    Known& here = known(world);
    for (const job_protocol::Member& member : world.members) {
        const auto& kept = here.members.try_emplace(member.group_rank, member).first->second;
        if (kept.address != member.address || kept.first_rank != member.first_rank)
            wrong("worlds",
                  fmt::format("two worlds are {}: its rank {} is at {} and at {}", name(world),
                              member.group_rank, kept.address, member.address));
    }
    stores_[address] = {world.generation, world.restarts};
}

void Invariants::began(const std::string& node, const job_protocol::World& world) {
    say(fmt::format("{}: workers begin, {} rank {} of {}", node, name(world),
                    world.own().first_rank, world.ranks));
    const Attempt attempt{world.generation, world.restarts};
    const auto store = stores_.find(world.members.front().address);
    // Without one they find nothing: its agent is gone, and so is the world soon.
    if (store != stores_.end() && store->second < attempt)
        wrong("stores", fmt::format("{}: workers of {} would find what the world before stored",
                                    node, name(world)));
    Known& here = known(world);
    if (here.nodes != world.nodes || here.ranks != world.ranks)
        wrong("worlds", fmt::format("two worlds are {}", name(world)));
    for (const job_protocol::Member& member : world.members) {
        job_protocol::Member kept =
            here.members.try_emplace(member.group_rank, member).first->second;
        kept.incarnation = member.incarnation;  // A new agent may have taken its workers over.
        if (!(kept == member))
            wrong("worlds",
                  fmt::format("members do not agree on {}: rank {} of {} and of {}", name(world),
                              member.group_rank, kept.address, member.address));
    }
    if (world.own().address != node) wrong("worlds", node + ": runs as a member that it is not");
    for (int i = 0; i < world.own().local_size; ++i) {
        const auto [holder, first] =
            holders_.try_emplace({world.generation, world.own().first_rank + i}, node);
        if (!first)
            wrong("ranks",
                  fmt::format("two hold rank {} of {}: {} and {}", world.own().first_rank + i,
                              name(world), holder->second, node));
    }
}

void Invariants::not_started(const std::string& node, const job_protocol::World& world) {
    say(fmt::format("{}: workers of {} can't start", node, name(world)));
    known(world).died = true;
    died_[{world.generation, world.restarts}].insert("");
}

void Invariants::worker_ended(const std::string& node, const job_protocol::World& world, int rank,
                              WorkerEnded how, const std::string& error) {
    holders_.erase({world.generation, rank});
    const Attempt attempt{world.generation, world.restarts};
    if (how == WorkerEnded::kDone) done_[attempt].insert(rank);
    if (how != WorkerEnded::kDied) return;
    say(fmt::format("{}: worker {} of {} dies{}{}", node, rank, name(world),
                    error.empty() ? "" : ": ", error));
    known(world).died = true;
    died_[attempt].insert(error);
}

// ---- what must have a reason

bool Invariants::was_charged(const Generation& generation, std::optional<int> restarts) const {
    return std::ranges::any_of(kept_, [&](const Kept& kept) {
        return std::ranges::any_of(kept.charged, [&](const Incident& incident) {
            return incident.generation == generation &&
                   (!restarts || incident.restarts == *restarts);
        });
    });
}

FaultWindows Invariants::way_of_masters() const {
    FaultWindows way = masters_differ_;
    for (const MasterPlace& place : master_places_) way.add(*place.fault_windows, place.until);
    return way;
}

FaultWindows Invariants::way_of(const std::string& node) const {
    FaultWindows way = way_of_masters();
    if (const auto found = nodes_.find(node); found != nodes_.end())
        for (const FaultWindows* part : found->second) way.add(*part);
    return way;
}

bool Invariants::has_excuse(const std::string& node, Instant from, Instant now) const {
    return way_of(node).excuse(from, now);
}

/// One of its nodes could be taken for lost.
bool Invariants::has_excuse(const Known& world) const {
    Instant from = records_.since(world.since);
    // Its first node is told first; the world may be older than what that was told of it.
    if (const auto first = world.members.find(0); first != world.members.end())
        from = std::min(from, way_of(first->second.address).since(from));
    if (way_of_masters().excuse(from, clock_.now())) return true;
    return std::ranges::any_of(world.members, [&](const auto& member) {
        return has_excuse(member.second.address, from, clock_.now());
    });
}

/// A node that is the whole world has restarted alone when its master had just decided the same,
/// and could not say so.
bool Invariants::was_begun_twice(const job_protocol::World& world) const {
    const auto known = made_.find(world.generation);
    const bool begun_alone =
        world.nodes == 1 && (known == made_.end() || known->second.restarts < world.restarts);
    return begun_alone && was_charged(world.generation, world.restarts - 1);
}

/// A later world was made and lost before a node was told of it, since the record could not be written:
/// the charge tells. Its members were to begin again anyway.
bool Invariants::was_replaced_unseen(const job_protocol::World& world) const {
    return std::ranges::any_of(kept_, [&](const Kept& kept) {
        return std::ranges::any_of(kept.charged, [&](const Incident& incident) {
            return world.generation < incident.generation && !worlds_.contains(incident.generation);
        });
    });
}

bool Invariants::may_stop(const job_protocol::World& world) {
    if (died_.contains({world.generation, world.restarts})) return true;
    if (end() || std::ranges::any_of(kept_, [&](const Kept& kept) {
            return kept.end && !(kept.newest_at_end < world.generation);
        }))
        return true;
    if (was_replaced_unseen(world)) return true;
    if (std::any_of(made_.upper_bound(world.generation), made_.end(),
                    [&](const auto& made) { return made.second.nodes > world.nodes; }))
        return true;
    // Of two worlds that masters have made who did not know of each other only one can go on.
    if (std::ranges::any_of(holders_, [&](const auto& holder) {
            return holder.first.first.epoch != world.generation.epoch;
        }))
        return true;
    return was_begun_twice(world) || has_excuse(known(world));
}

void Invariants::stops(const std::string& node, const job_protocol::World& world, Duration grace) {
    say(fmt::format("{}: workers of {} are to stop within {} ms", node, name(world),
                    std::chrono::duration_cast<std::chrono::milliseconds>(grace).count()));
    look_at_masters_();
    if (!may_stop(world))
        wrong("healthy-stop",
              fmt::format("{}: healthy workers of {} are to stop, and the policy has no reason",
                          node, name(world)));
}

void Invariants::agent_ended(const std::string& node, const agent::AgentEnd& end) {
    say(fmt::format("{}: the agent ends ({}): {}", node, static_cast<int>(end.kind), end.text));
    const bool succeeded = end.kind == agent::AgentEnd::Kind::kSucceeded;
    if (succeeded || end.kind == agent::AgentEnd::Kind::kFailed) {
        const auto kind = succeeded ? Verdict::Kind::kSucceeded : Verdict::Kind::kFailed;
        if (!has_ended(kind))
            wrong("agent-end", node + ": an agent ends in a way in which the job has not ended");
    } else if (end.kind == agent::AgentEnd::Kind::kLeft && !leaving_.erase(node)) {
        wrong("agent-end", node + ": an agent leaves, and was not told to");
    }
}

// ---- records

void Invariants::recorded(const job_protocol::JobRecord& record, std::size_t number) {
    look_at_masters_();
    newest_used_ = std::max(newest_used_, number);
    const auto& before = kept_[number].end;
    if (begins_again_ && before && before->kind == Verdict::Kind::kFailed && !record.end) {
        Kept attempt = std::exchange(kept_[number], {});
        kept_.push_back(std::move(attempt));
    }
    Kept& kept = kept_[number];
    look_at_charges(record, kept);
    if (kept.end && record.end != kept.end) wrong("verdict", "an end was not final");
    if (!record.end || kept.end) return;
    if (!made_.empty()) kept.newest_at_end = made_.rbegin()->first;
    look_at_end(*record.end, kept);
    kept.end = record.end;
}

void Invariants::look_at_charges(const job_protocol::JobRecord& record, Kept& kept) {
    const auto& now = record.incidents;
    if (now == kept.charged) return;
    // Each has a limit and none a window, so that all of them count without end.
    if (now.size() < kept.charged.size() ||
        !std::ranges::equal(kept.charged, std::span(now).first(kept.charged.size())))
        wrong("charges", "a charge was forgotten");
    std::set<Attempt> attempts;
    for (const Incident& incident : now)
        if (!attempts.emplace(incident.generation, incident.restarts).second)
            wrong("charges", name(incident.generation, incident.restarts) + " was charged twice");
    look_at_budgets(now);
    for (std::size_t i = kept.charged.size(); i < now.size(); ++i) {
        const Incident& incident = now[i];
        say(fmt::format("charged for {}: {}; {}", name(incident.generation, incident.restarts),
                        to_string(incident.charge), incident.error));
        const auto world = worlds_.find(incident.generation);
        const bool happened = incident.charge == Charge::kNode
                                  // A world that no node was told of has no known members.
                                  ? world == worlds_.end() || has_excuse(world->second)
                                  : died_.contains({incident.generation, incident.restarts});
        if (!happened)
            wrong("charges", name(incident.generation, incident.restarts) +
                                 " was charged with what has not happened");
    }
    kept.charged = now;
}

void Invariants::look_at_budgets(const std::vector<Incident>& charged) {
    for (const Charge charge : {Charge::kWorker, Charge::kMemory, Charge::kNode}) {
        const auto& limit = options_.budgets[static_cast<std::size_t>(charge)].incidents;
        const auto number = std::ranges::count(charged, charge, &Incident::charge);
        if (limit && number > *limit)
            wrong("charges", fmt::format("{} incidents of {} are charged, and the budget is {}",
                                         number, to_string(charge), *limit));
    }
}

void Invariants::look_at_end(const Verdict& end, const Kept& kept) {
    if (end.kind == Verdict::Kind::kSucceeded) {
        if (std::ranges::none_of(done_, [&](const auto& attempt) {
                return static_cast<int>(attempt.second.size()) ==
                       worlds_.at(attempt.first.first).ranks;
            }))
            wrong("verdict", "the job has succeeded, and not all workers of a world were done");
    } else if (!end.cause || !was_due(*end.cause, kept)) {
        wrong("verdict", "the job has failed, and not by what the policy has: " + end.text);
    }
}

/// It happened, and no try was left or another was of no use.
bool Invariants::was_due(const job_protocol::FailureReport& cause, const Kept& kept) const {
    const auto& limit = options_.budgets[static_cast<std::size_t>(charge_of(cause.kind))].incidents;
    const bool is_spent = limit && std::ranges::count(kept.charged, charge_of(cause.kind),
                                                      &Incident::charge) >= *limit;
    if (cause.kind == FailureKind::kCheckFailed) return checks_nodes_;
    if (is_of_node(cause.kind)) return is_spent;
    const auto here = died_.find({cause.generation, cause.restarts});
    if (here == died_.end()) return false;
    if (cause.kind == FailureKind::kNotStarted) return true;
    if (!here->second.contains(cause.error)) return false;
    const auto before = std::ranges::count_if(died_, [&](const auto& one) {
        return one.first <= here->first && one.second.contains(cause.error);
    });
    return is_spent || cause.error.starts_with("ImportError:") ||
           (!cause.error.empty() && before > 1);
}

}  // namespace muster::sim::elastic
