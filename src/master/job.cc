#include "master/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "master/joining_node.h"
#include "master/missing_nodes.h"

namespace muster::master {
namespace {

/// How often to say who is missing.
constexpr Duration kSayEvery = std::chrono::seconds(10);
constexpr Duration kSayFirst = std::chrono::seconds(1);

constexpr const char* kNewMaster =
    "the job has a new master, and none of the worlds before continues";
constexpr const char* kAgentsReturn = "waiting for the job's agents to return to the new master";

}  // namespace

Job::Job(JobOptions options, JobRecord record, Instant now, Services& services)
    : terms_(options.terms_of_nodes ? record.terms : std::nullopt),
      options_(options_at_start(std::move(options), terms_)),
      record_(std::move(record)),
      members_(options_.membership, epoch(), epoch() != options_.first_epoch, now),
      policy_(options_.policy, Budgets(options_.budgets)),
      services_(services),
      why_(epoch() != options_.first_epoch ? kNewMaster : "the job begins"),
      grace_(options_.healthy_grace),
      waiting_(epoch() != options_.first_epoch ? kAgentsReturn : "waiting for the job's nodes"),
      say_next_(now + kSayFirst) {
    for (const std::string& incarnation : record_.now().excluded)
        members_.exclude(incarnation, now);
    for (const Incident& incident : record_.now().incidents) policy_.remember(incident);
    if (!record_.now().incidents.empty()) {
        const Incident& newest = record_.now().incidents.back();
        // A lost node may have restarted alone since, and must not continue either.
        members_.was_to_end(newest.generation, newest.charge == Charge::kNode
                                                   ? std::numeric_limits<int>::max()
                                                   : newest.restarts);
    }
}

// ---- agents that join, come back, claim a slot, or are lost

Result<void> Job::joined(Hello hello, Instant now, WallTime wall) {
    if (hello.epoch_seen > epoch())
        return Error(Code::kConflict, fmt::format("epoch {} has ended: an agent knows epoch {}",
                                                  epoch(), hello.epoch_seen));
    correct_address(hello);
    hear_terms(hello);
    if (hello.epoch_seen != 0 && hello.epoch_seen != epoch()) find_world(now);
    members_.reached(now);
    const auto [agent, is_new] = agents_.join(std::move(hello));
    changed(agent.incarnation());
    if (is_new)
        admit(agent, now, wall);
    else
        agents_.came_back(agent);
    if (!agent.refused) services_.joined(agent.hello);
    read(agent, now, wall);
    return {};
}

/// There was another master, which this one was not told: its record is lost. Known by the first agent
/// that joins, since places are given differently then.
void Job::find_world(Instant now) {
    if (!options_.terms_of_nodes || members_.is_rejoining() || members_.has_made_world() ||
        !agents_.all().empty())
        return;
    members_ = Membership(options_.membership, epoch(), true, now);
    why_ = kNewMaster;
    waiting_ = kAgentsReturn;
}

void Job::reached_at(const std::string& address) {
    const std::vector<std::string>& guessed = options_.guessed_addresses;
    if (!reached_at_.empty() || std::ranges::find(guessed, address) == guessed.end()) return;
    reached_at_ = address;
    for (const auto& [incarnation, agent] : agents_.all()) {
        Hello& hello = agents_.at(incarnation).hello;
        correct_address(hello);
        members_.has_address(incarnation, hello.address);
    }
}

void Job::hear_terms(const Hello& hello) {
    if (!options_.terms_of_nodes || end()) return;
    const JobTerms::Heard heard =
        terms_.heard(hello.terms, hello.epoch_seen == 0 && !hello.report.holds);
    if (heard == JobTerms::Heard::kFirst) keep_terms();
    if (heard == JobTerms::Heard::kOthers) say({.warns = true, .text = other_terms(hello, terms_)});
    if (terms_.now() && !std::exchange(services_know_terms_, true))
        services_.has_terms(*terms_.now());
}

/// What holds now is what follows from them.
void Job::keep_terms() {
    options_ = with_terms(std::move(options_), *terms_.now());
    members_.limit_to(options_.membership);
    policy_.follow(options_.policy, options_.budgets);
    record_.terms(*terms_.now());
    changed_.all = true;
}

/// Other terms hold from the next world on, which they may lead to: a job that is to have more nodes
/// grows when these are there. Before the first world they wait for all nodes with the first ones.
void Job::look_at_terms() {
    if (!terms_.next() || members_.is_rejoining()) return;
    if (!members_.has_made_world() && std::ranges::any_of(agents_.all(), [&](const auto& entry) {
            return entry.second.hello.terms == terms_.now();
        }))
        return;
    const JobOptions wanted = with_terms(options_, *terms_.next());
    if (members_.world() != nullptr && !members_.would_grow_with(wanted.membership)) return;
    terms_.take_next();
    keep_terms();
    services_.has_terms(*terms_.now());
}

void Job::correct_address(Hello& hello) const {
    if (!reached_at_.empty() && hello.address == options_.guessed_addresses.front())
        hello.address = reached_at_;
}

void Job::refuse(Agent& agent, std::string text) {
    agents_.claims_no_more(agent);
    agent.refused = Verdict{.kind = Verdict::Kind::kExcluded, .text = std::move(text)};
    changed(agent.hello.incarnation);
}

/// For as long as what was found there may count.
void Job::leave_out(Agent& agent, std::string why, Instant now, WallTime wall) {
    const Budget& budget = policy_.budgets().limit(Charge::kNode);
    members_.exclude(agent.incarnation(), now);
    record_.exclude(agent.incarnation());
    services_.excluded(agent.hello, counts_until(budget, wall));
    refuse(agent, std::move(why));
}

void Job::admit(Agent& agent, Instant now, WallTime wall) {
    const Hello& hello = agent.hello;
    if (end() || !hello.report.leaving.empty()) return;
    if (gone_when_done_.erase(hello.incarnation) > 0) return;
    Node node = node_of(hello);
    if (hello.report.holds) agent.ran = hello.report.holds->generation;
    if (node.holds) {
        // Its own, or that of the agent whose workers it took over.
        const std::string before = node.holds->own().incarnation;
        if (before != hello.incarnation && agents_.contains(before)) {
            if (const auto slot = members_.succeed(before, node)) {
                agents_.remove(before);
                done_.erase(before);  // the new agent reports it again, under its own name
                if (const auto place = places_.extract(before))
                    places_.emplace(hello.incarnation, place.mapped());
                replace_store(now);
                return;
            }
        }
    }
    if (!members_.is_rejoining()) {
        if (node.slot && !was_moved_to(*node.slot) && !claim(agent, now, wall)) return;
        // Also for the claim: a standby node moves up at once if the previous agent was away.
        if (node.slot && was_moved_to(*node.slot)) node.slot.reset();
        if (node.holds && !node.slot && members_.holder(node.holds->own().slot) == nullptr)
            node.slot = node.holds->own().slot;
    }
    if (const auto slot = members_.join(std::move(node)); !slot)
        refuse(agent, slot.error().message());
}

/// The holder did not ask for the slot: it replaces another agent there, and has its workers.
bool Job::was_moved_to(Slot slot) const {
    const std::string* const holder = members_.holder(slot);
    const Agent* const agent = holder == nullptr ? nullptr : agents_.find(*holder);
    return agent != nullptr && agent->hello.slot != slot;
}

/// True: no other agent has its slot.
bool Job::claim(Agent& agent, Instant now, WallTime wall) {
    const std::string* const holder = members_.holder(*agent.hello.slot);
    if (holder == nullptr) return true;
    const Agent* other = agents_.find(*holder);  // null: done and gone, until the world ends
    if (other != nullptr && other->away_until) {
        const Slot slot = *agent.hello.slot;
        lose(std::string(*holder), FailureKind::kDisconnected, "another agent has replaced it", now,
             wall);
        if (members_.holder(slot) == nullptr || was_moved_to(slot)) return true;
        other = nullptr;
    }
    agents_.claims(agent, other == nullptr ? Instant::max() : now + options_.claim);
    return false;
}

void Job::look_at_claims(Instant now, WallTime wall) {
    for (const std::string& incarnation : agents_.claimers()) {
        Agent& agent = agents_.at(incarnation);
        const Slot slot = *agent.hello.slot;
        const std::string* const holder = members_.holder(slot);
        if (holder == nullptr || was_moved_to(slot)) {
            agents_.claims_no_more(agent);
            admit(agent, now, wall);
            changed(incarnation);
        } else if (now >= *agent.claims_until && successors_.contains(slot)) {
            agents_.claims(agent, Instant::max());
        } else if (now >= *agent.claims_until) {
            const Hello& other = agents_.at(*holder).hello;
            refuse(agent, fmt::format("slot {} is held by the agent {} at {}, which is alive: give "
                                      "each node its own --node-rank, or none",
                                      slot, other.name, other.address));
        }
    }
}

void Job::disconnected(const std::string& incarnation, const std::string& why, Instant now) {
    if (Agent* const agent = agents_.find(incarnation); agent != nullptr && !agent->away_until)
        agents_.disconnected(*agent, why, now + options_.reconnect);
}

void Job::timed_out(const std::string& incarnation, const std::string& why, Instant now,
                    WallTime wall) {
    if (agents_.contains(incarnation)) lose(incarnation, FailureKind::kTimedOut, why, now, wall);
}

void Job::lose(const std::string& incarnation, FailureKind kind, const std::string& why,
               Instant now, WallTime wall) {
    Agent& agent = agents_.at(incarnation);
    services_.lost(incarnation);
    if (done_.contains(incarnation)) {
        gone_when_done_.insert(incarnation);
    } else if (is_member(incarnation) && members_.world() != nullptr) {
        const Slot slot = members_.slot_of(incarnation).value_or(0);
        decide(loss_of(agent, slot, *members_.world(), {.kind = kind, .error = why, .when = wall}),
               incarnation, now, wall);
        members_.lost(incarnation, now);
    } else {
        members_.lost(incarnation, now);
    }
    agents_.remove(incarnation);
}

// ---- reports

void Job::reported(const std::string& incarnation, Report report, Instant now, WallTime wall) {
    Agent* const agent = agents_.find(incarnation);
    if (agent == nullptr) return;
    agent->hello.report = std::move(report);
    read(*agent, now, wall);
}

void Job::read(Agent& agent, Instant now, WallTime wall) {
    const std::string incarnation = agent.hello.incarnation;
    const Report& report = agent.hello.report;
    if (end()) return;
    if (!report.leaving.empty()) {
        lose(incarnation, FailureKind::kNodeEvicted, report.leaving, now, wall);
        return;
    }
    if (!report.holds) agent.ran.reset();
    if (members_.is_rejoining())
        members_.holds(incarnation, report.holds, report.gave_up, has_failed(report));
    services_.reported(incarnation, report);
    const World* world = members_.world();
    if (world == nullptr || !is_member(incarnation)) return;
    if (!store_ready_ && report.store_ready == world->generation && places_.at(incarnation) == 0) {
        store_ready_ = true;
        changed_.all = true;
    }
    if (!report.holds || report.holds->generation != world->generation) return;
    // A worker counts from its own start, so any step is one of this attempt.
    if (report.steps.value_or(0) > 0) {
        policy_.progress_is_seen();
        policy_.stepped(world->generation, report.holds->restarts);
    }
    if (world->nodes == 1) settle(agent, now, wall);
    for (const FailureReport& seen : report.evidence) {
        // An end, or another world, takes the current world away.
        if (end() || members_.world() == nullptr) return;
        if (seen.generation != members_.world()->generation ||
            seen.restarts != members_.world()->restarts)
            continue;
        FailureReport named = seen;
        named.slot = members_.slot_of(incarnation).value_or(0);
        named.node = agent.hello.address;
        decide(named, incarnation, now, wall);
    }
    if (!report.done || end() || members_.world() == nullptr) return;
    done_.insert(incarnation);
    members_.hold_growth(true);
    if (done_.size() < places_.size()) return;
    finish({.kind = Verdict::Kind::kSucceeded,
            .text = fmt::format("all {} workers exited with 0", members_.world()->size())});
}

/// A node that is the whole world has restarted its workers while it could not reach the master.
void Job::settle(const Agent& agent, Instant /*now*/, WallTime wall) {
    const Report& report = agent.hello.report;
    const Generation generation = members_.world()->generation;
    for (const FailureReport& seen : report.evidence) {
        if (seen.generation != generation || seen.restarts >= report.holds->restarts) continue;
        FailureReport named = seen;
        named.slot = members_.slot_of(agent.hello.incarnation).value_or(0);
        named.node = agent.hello.address;
        const auto decision = policy_.decide(named, generation, wall);
        if (!decision) continue;
        if (decision->charged) record_.charge(*decision->charged, options_.budgets, wall);
        if (decision->action == Action::kFail)
            return finish({.kind = Verdict::Kind::kFailed, .text = decision->text, .cause = named});
    }
    members_.restarted_alone(report.holds->restarts);
}

void Job::decide(const FailureReport& evidence, const std::string& incarnation, Instant now,
                 WallTime wall) {
    const auto decision = policy_.decide(evidence, members_.world()->generation, wall);
    if (!decision || end()) return;
    if (decision->charged) record_.charge(*decision->charged, options_.budgets, wall);
    why_ = decision->text;
    grace_ = options_.broken_grace;
    switch (decision->action) {
        case Action::kRestart:
            members_.restart(now);
            break;
        case Action::kReplace:
            leave_out(agents_.at(incarnation), decision->text, now, wall);
            break;
        case Action::kLeave:
            members_.lost(incarnation, now);
            why_ += members_.usable() >= members_.least()
                        ? "; the world continues without it"
                        : fmt::format("; the world can't continue with {} of at least {} nodes",
                                      members_.usable(), members_.least());
            break;
        case Action::kFail:
            return finish(
                {.kind = Verdict::Kind::kFailed, .text = decision->text, .cause = evidence});
    }
}

void Job::finish(Verdict verdict) {
    why_ = verdict.text;
    grace_ = options_.broken_grace;
    record_.end(std::move(verdict));
    changed_.all = true;
}

// ---- worlds

void Job::advance(Instant now, WallTime wall) {
    while (const Agent* const overdue = agents_.overdue(now)) {
        const std::string incarnation = overdue->incarnation();
        const std::string why = overdue->why_away;
        lose(incarnation, FailureKind::kDisconnected, why, now, wall);
    }
    if (end()) return;
    if (lacks_terms()) {
        waiting_ =
            "waiting for a node that says how many nodes the job has; agents of this version do";
        // Programs without agents need no terms.
        if (services_.advance(now, wall)) changed_.all = true;
        return;
    }
    for (;;) {
        look_at_terms();
        if (members_.world() == nullptr && told_ != Generation()) end_of_world(now);
        for (const std::string& incarnation : std::exchange(gone_when_done_, {}))
            if (members_.world() != nullptr)
                gone_when_done_.insert(incarnation);
            else
                members_.lost(incarnation, now);
        look_at_claims(now, wall);
        members_.hold_first(services_.hold_first_world());
        const bool made = members_.advance(now);
        if (advance_services(now, wall)) continue;
        if (end()) return;
        if (!made || members_.world() == nullptr) break;
        new_world(now, wall);
        if (end()) return;
    }
    if (members_.world() == nullptr && now >= say_next_) say_who_is_missing(now);
}

/// No world runs, and none may.
void Job::end_of_world(Instant now) {
    for (const auto& [incarnation, rank] : places_)
        if (Agent* const agent = agents_.find(incarnation)) agent->ran = told_;
    told_ = {};
    say_next_ = now + kSayFirst;
    places_.clear();
    done_.clear();
    store_ready_ = false;
    members_.hold_growth(false);
    changed_.all = true;
}

void Job::new_world(Instant now, WallTime wall) {
    const World world = *members_.world();
    if (told_ != Generation()) {
        why_ = fmt::format("{} nodes form a larger world than the {} that run", world.nodes,
                           places_.size());
        grace_ = options_.healthy_grace;
        end_of_world(now);
    }
    told_ = world.generation;
    changed_.all = true;
    store_ready_ = false;
    for (const Member& member : world.members)
        places_.emplace(member.incarnation, member.group_rank);
    for (const auto& [incarnation, rank] : places_) {
        const Report& report = agents_.at(incarnation).hello.report;
        // If other members run in it, they were told to when the store was ready.
        store_ready_ = store_ready_ || report.store_ready == world.generation ||
                       (rank != 0 && report.holds && report.holds->generation == world.generation);
    }
    if (world.generation.epoch != epoch())  // found: what its members know about the store counts
        for (const Member& member : world.members) {
            if (members_.world() == nullptr || end()) break;
            if (Agent* const agent = agents_.find(member.incarnation)) read(*agent, now, wall);
        }
    replace_store(now);
    if (members_.world() == nullptr) return;
    const auto& limit = policy_.budgets().limit(Charge::kWorker);
    const int left = limit.incidents
                         ? *limit.incidents - policy_.budgets().spent(Charge::kWorker, wall)
                         : std::numeric_limits<int>::max() / 2;
    most_restarts_ = world.nodes == 1 ? members_.world()->restarts + std::max(left, 0) : 0;
}

/// The agent of group rank 0 runs that world but has no store for it: it is a new agent.
bool Job::lacks_store() const {
    const Generation& generation = members_.world()->generation;
    const auto runs_it = [&](const std::string& incarnation) {
        const Agent* const agent = agents_.find(incarnation);
        return agent == nullptr ||
               (agent->hello.report.holds && agent->hello.report.holds->generation == generation);
    };
    const std::string& first = members_.world()->members.front().incarnation;
    const Agent* const agent = agents_.find(first);
    return agent != nullptr && runs_it(first) && agent->hello.report.store_ready != generation &&
           !std::ranges::all_of(members_.world()->members, runs_it, &Member::incarnation);
}

/// Workers that have not started would look for what the others have stored, and it is lost.
void Job::replace_store(Instant now) {
    if (members_.world() == nullptr || end() || !lacks_store()) return;
    why_ = "the store was lost with the agent of group rank 0 before all workers had started";
    grace_ = options_.broken_grace;
    members_.restart(now);
}

void Job::say_who_is_missing(Instant now) {
    const auto shortage = members_.shortage();
    // More often at first, so that whoever asks hears of the present.
    say_next_ = now + (shortage ? std::clamp<Duration>(now - shortage->since, kSayFirst, kSayEvery)
                                : kSayEvery);
    if (!services_.why_it_waits().empty()) return;
    if (shortage)
        waiting_ = members_.is_rejoining()
                       ? "waiting for the job's agents to return to the new master: " +
                             who_is_missing(*shortage, now)
                       : who_is_missing(*shortage, now);
    else
        waiting_ = "there are enough nodes; more may join until the last call ends";
    changed_.all = true;
}

Instant Job::wake_at() const {
    if (end() || lacks_terms()) return agents_.next_overdue();
    Instant next = std::min(
        {members_.wake_at(), services_.wake_at(), agents_.next_overdue(), agents_.next_claim()});
    if (members_.world() == nullptr) next = std::min(next, say_next_);
    return next;
}

// ---- services

/// True: a first world that was held back until now may be made.
bool Job::advance_services(Instant now, WallTime wall) {
    const bool held = services_.hold_first_world();
    if (members_.is_held() && !std::exchange(first_world_was_due_, true)) {
        services_.first_world_is_due(candidates(), now);
        changed_.all = true;
    }
    if (services_.advance(now, wall)) changed_.all = true;
    if (!held || services_.hold_first_world()) return false;
    waiting_ = "waiting for the job's nodes";
    return !end();
}

std::vector<Candidate> Job::candidates() const {
    std::vector<Candidate> nodes;
    for (const auto& [incarnation, agent] : agents_.all())
        if (const auto slot = members_.slot_of(incarnation))
            nodes.push_back({.slot = *slot, .hello = agent.hello});
    std::ranges::sort(nodes, {}, &Candidate::slot);
    return nodes;
}

std::string Job::section(const std::string& name) const {
    const auto found = record().sections.find(name);
    return found == record().sections.end() ? std::string() : found->second;
}

void Job::exclude(const std::string& by, FailureKind kind, const std::vector<UnfitNode>& nodes,
                  Instant now, WallTime wall) {
    std::optional<FailureReport> first;
    std::string all;
    for (const UnfitNode& node : nodes) {
        Agent* const agent = agents_.find(node.incarnation);
        if (agent == nullptr || end()) continue;
        const FailureReport evidence{.kind = kind,
                                     .slot = node.slot,
                                     .node = agent->hello.address,
                                     .error = node.why,
                                     .when = wall};
        // The first one is charged; the others belong to its incident.
        const auto decision = policy_.decide(evidence, {}, wall);
        if (decision && decision->charged)
            record_.charge(*decision->charged, options_.budgets, wall);
        if (decision && decision->action == Action::kFail)
            return finish(
                {.kind = Verdict::Kind::kFailed, .text = decision->text, .cause = evidence});
        if (!first) first = evidence;
        all += (all.empty() ? "" : "; ") + describe(evidence);
        leave_out(*agent, describe(evidence) + "; it is excluded from the job", now, wall);
    }
    if (!first) return;
    if (members_.usable() < members_.least())
        finish({.kind = Verdict::Kind::kFailed,
                .text = fmt::format("{} leaves {} of at least {} nodes: {}", by, members_.usable(),
                                    members_.least(), all),
                .cause = first});
}

std::string Job::waits_for() const {
    if (end() || members_.world() != nullptr) return {};
    const std::string held = services_.why_it_waits();
    return held.empty() ? waiting_ : held;
}

// ---- directives

std::optional<Directive> Job::directive_for(const std::string& incarnation) const {
    const Agent* const found = agents_.find(incarnation);
    if (found == nullptr) return std::nullopt;
    const Agent& agent = *found;
    Directive order{.epoch = epoch(),
                    .what = Wait{},
                    .why = why_,
                    .grace = std::chrono::duration_cast<std::chrono::milliseconds>(grace_)};
    if (agent.hello.can_host_master) order.record = record_.shared();
    if (agent.refused) {
        order.what = *agent.refused;
        order.why = agent.refused->text;
    } else if (end()) {
        order.what = *end();
    } else if (members_.world() == nullptr && told_ != Generation()) {
        // Its world has just ended; advance() decides what follows.
        return std::nullopt;
    } else if (agent.claims_until) {
        order.what = Wait{
            .text = fmt::format(
                "another agent, perhaps lost, has slot {}; each node needs its own --node-rank",
                agent.hello.slot.value_or(0))};
    } else if (members_.is_rejoining() && agent.hello.report.holds) {
        // Running workers continue until it is known what there is.
        return std::nullopt;
    } else if (const auto place = places_.find(incarnation);
               place != places_.end() && (place->second == 0 || store_ready_)) {
        order.what = Run{.world = as_told_to(*members_.world(), place->second),
                         .most_restarts = most_restarts_};
    } else if (agent.ran) {
        order.what = Stop{.generation = *agent.ran};
    } else if (place != places_.end()) {
        order.what = Wait{.text = "group rank 0 resets its store"};
    } else if (auto what = services_.directive_for(incarnation)) {
        order.what = *std::move(what);
    } else if (members_.world() != nullptr) {
        order.what = Wait{.standby = true, .text = "the world is running; this node stands by"};
    } else {
        const std::string held = services_.why_it_waits();
        order.what = Wait{.text = held.empty() ? waiting_ : held};
    }
    return order;
}

std::optional<int> Job::rank_of(const std::string& incarnation,
                                const Generation& generation) const {
    const World* const world = members_.world();
    if (world == nullptr || world->generation != generation) return std::nullopt;
    const auto place = places_.find(incarnation);
    if (place == places_.end()) return std::nullopt;
    return place->second;
}

}  // namespace muster::master
