#include "master/job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace muster::master {
namespace {

/// Of saying who is missing.
constexpr Duration kSayEvery = std::chrono::seconds(10);
constexpr Duration kSayFirst = std::chrono::seconds(1);
/// Slots that are named when many are missing.
constexpr std::size_t kNamed = 16;

FailurePolicy policy_of(const JobOptions& options, const JobRecord& record) {
    FailurePolicy policy(options.policy, Budgets(options.budgets));
    for (const Incident& incident : record.incidents) policy.remember(incident);
    return policy;
}

/// Those that can still count, and the newest, by which a master knows that it was charged.
void drop_old(std::vector<Incident>& incidents, const std::array<Budget, kCharges>& budgets,
              WallTime wall) {
    if (incidents.empty()) return;
    const Incident newest = incidents.back();
    incidents.pop_back();
    std::erase_if(incidents, [&](const Incident& incident) {
        const Budget& budget = budgets[static_cast<std::size_t>(incident.charge)];
        return !budget.incidents ||
               (budget.window > Duration::zero() && incident.when <= wall - budget.window);
    });
    incidents.push_back(newest);
}

std::string who_is_missing(const Shortage& shortage, Instant now) {
    const std::size_t named = std::min(shortage.absent.size(), kNamed);
    const std::vector<Slot> some(shortage.absent.begin(),
                                 shortage.absent.begin() + static_cast<std::ptrdiff_t>(named));
    const std::string absent = some.empty()
                                   ? ""
                                   : fmt::format("nobody has slot {}{}, ", fmt::join(some, ", "),
                                                 named < shortage.absent.size() ? ", ..." : "");
    return fmt::format(
        "{} of at least {} nodes are there; {}for {} s now", shortage.have, shortage.need, absent,
        std::chrono::duration_cast<std::chrono::seconds>(now - shortage.since).count());
}

}  // namespace

Job::Job(JobOptions options, JobRecord record, Instant now)
    : options_(std::move(options)),
      record_(std::move(record)),
      told_record_(std::make_shared<const JobRecord>(record_)),
      members_(options_.membership, record_.epoch, record_.epoch != options_.first_epoch, now),
      policy_(policy_of(options_, record_)),
      grace_(options_.healthy_grace),
      waiting_(record_.epoch != options_.first_epoch
                   ? "the agents of the job come back to a new master"
                   : "the nodes of the job gather"),
      say_next_(now + kSayFirst) {
    for (const std::string& incarnation : record_.excluded) members_.exclude(incarnation, now);
    if (!record_.incidents.empty()) {
        const Incident& newest = record_.incidents.back();
        // Who was lost may have begun anew alone since, and is not to go on either.
        members_.was_to_end(newest.generation, newest.charge == Charge::kNode
                                                   ? std::numeric_limits<int>::max()
                                                   : newest.restarts);
    }
    if (options_.node_check) precheck_.emplace(*options_.node_check, record_.epoch);
    members_.hold_first(precheck_.has_value());
}

// ---- what is so with them

void Job::reported(const std::string& incarnation, Report report, Instant now, WallTime wall) {
    const auto found = agents_.find(incarnation);
    if (found == agents_.end()) return;
    found->second.hello.report = std::move(report);
    read(found->second, now, wall);
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
    if (precheck_ && report.checked) precheck_->reported(incarnation, *report.checked);
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
        // An end, or another world, takes the one of the evidence away.
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
            .text = fmt::format("all {} workers ended with 0", members_.world()->size())});
}

/// A node that is the whole world began its workers anew while no master was there.
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
        if (decision->charged) charge(*decision->charged, wall);
        if (decision->action == Action::kFail)
            return finish({.kind = Verdict::Kind::kFailed, .text = decision->text, .cause = named});
    }
    members_.restarted_alone(report.holds->restarts);
}

void Job::decide(const FailureReport& evidence, const std::string& incarnation, Instant now,
                 WallTime wall) {
    const auto decision = policy_.decide(evidence, members_.world()->generation, wall);
    if (!decision || end()) return;
    if (decision->charged) charge(*decision->charged, wall);
    why_ = decision->text;
    grace_ = options_.broken_grace;
    switch (decision->action) {
        case Action::kRestart:
            members_.restart(now);
            break;
        case Action::kReplace:
            members_.exclude(incarnation, now);
            record_.excluded.push_back(incarnation);
            record_changed();
            refuse(agents_.at(incarnation), decision->text);
            break;
        case Action::kLeave:
            members_.lost(incarnation, now);
            break;
        case Action::kFail:
            return finish(
                {.kind = Verdict::Kind::kFailed, .text = decision->text, .cause = evidence});
    }
}

void Job::charge(const Incident& incident, WallTime wall) {
    record_.incidents.push_back(incident);
    drop_old(record_.incidents, options_.budgets, wall);
    record_changed();
}

void Job::record_changed() {
    ++version_;
    told_record_ = std::make_shared<const JobRecord>(record_);
}

void Job::finish(Verdict verdict) {
    why_ = verdict.text;
    grace_ = options_.broken_grace;
    record_.end = std::move(verdict);
    record_changed();
    changed_.all = true;
}

// ---- worlds

void Job::advance(Instant now, WallTime wall) {
    while (!away_.empty() && away_.begin()->first <= now) {
        const std::string incarnation = away_.begin()->second;
        const std::string why = agents_.at(incarnation).why_away;
        lose(incarnation, FailureKind::kDisconnected, why, now, wall);
    }
    if (end()) return;
    for (;;) {
        if (members_.world() == nullptr && told_ != Generation()) end_of_world(now);
        for (const std::string& incarnation : std::exchange(gone_when_done_, {}))
            if (members_.world() != nullptr)
                gone_when_done_.insert(incarnation);
            else
                members_.lost(incarnation, now);
        look_at_claims(now, wall);
        const bool made = members_.advance(now);
        if (check_nodes(now, wall)) continue;
        if (end()) return;
        if (!made || members_.world() == nullptr) break;
        new_world(now, wall);
        if (end()) return;
    }
    if (members_.world() == nullptr && now >= say_next_) say_who_is_missing(now);
}

/// Nobody runs, and nobody may.
void Job::end_of_world(Instant now) {
    for (const auto& [incarnation, rank] : places_)
        if (const auto agent = agents_.find(incarnation); agent != agents_.end())
            agent->second.ran = told_;
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
        why_ = fmt::format("{} nodes make a larger world than the {} that run", world.nodes,
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
        // Who else runs in it was told to when it was ready.
        store_ready_ = store_ready_ || report.store_ready == world.generation ||
                       (rank != 0 && report.holds && report.holds->generation == world.generation);
    }
    if (world.generation.epoch != record_.epoch)  // Found: what its members know of it counts.
        for (const Member& member : world.members) {
            if (members_.world() == nullptr || end()) break;
            if (const auto agent = agents_.find(member.incarnation); agent != agents_.end())
                read(agent->second, now, wall);
        }
    replace_store(now);
    if (members_.world() == nullptr) return;
    const auto& limit = policy_.budgets().limit(Charge::kWorker);
    const int left = limit.incidents
                         ? *limit.incidents - policy_.budgets().spent(Charge::kWorker, wall)
                         : std::numeric_limits<int>::max() / 2;
    most_restarts_ = world.nodes == 1 ? members_.world()->restarts + std::max(left, 0) : 0;
}

/// The agent of group rank 0 runs that world, and has no store for it: it is a new one.
bool Job::lacks_store() const {
    const Generation& generation = members_.world()->generation;
    const auto runs_it = [&](const std::string& incarnation) {
        const auto agent = agents_.find(incarnation);
        return agent == agents_.end() ||
               (agent->second.hello.report.holds &&
                agent->second.hello.report.holds->generation == generation);
    };
    const std::string& first = members_.world()->members.front().incarnation;
    const auto agent = agents_.find(first);
    return agent != agents_.end() && runs_it(first) &&
           agent->second.hello.report.store_ready != generation &&
           !std::ranges::all_of(members_.world()->members, runs_it, &Member::incarnation);
}

/// Who has not begun would look for what the others have stored, and it is gone.
void Job::replace_store(Instant now) {
    if (members_.world() == nullptr || end() || !lacks_store()) return;
    why_ = "the store has gone with the agent of group rank 0, and not all have begun";
    grace_ = options_.broken_grace;
    members_.restart(now);
}

void Job::say_who_is_missing(Instant now) {
    say_next_ = now + kSayEvery;
    if (precheck_ && precheck_->has_begun() && !precheck_->is_over()) return;
    const auto shortage = members_.shortage();
    if (shortage)
        waiting_ = members_.is_rejoining() ? "the agents of the job come back to a new master: " +
                                                 who_is_missing(*shortage, now)
                                           : who_is_missing(*shortage, now);
    else
        waiting_ = "enough nodes are there; more may come until the last call is over";
    changed_.all = true;
}

Instant Job::wake_at() const {
    if (end()) return away_.empty() ? Instant::max() : away_.begin()->first;
    Instant next = members_.wake_at();
    if (precheck_) next = std::min(next, precheck_->wake_at());
    if (!away_.empty()) next = std::min(next, away_.begin()->first);
    for (const std::string& incarnation : claimers_)
        next = std::min(next, *agents_.at(incarnation).claims_until);
    if (members_.world() == nullptr) next = std::min(next, say_next_);
    return next;
}

// ---- orders

std::optional<Directive> Job::directive_for(const std::string& incarnation) const {
    const auto found = agents_.find(incarnation);
    if (found == agents_.end()) return std::nullopt;
    const Agent& agent = found->second;
    Directive order{.epoch = record_.epoch, .what = Wait{}, .why = why_, .grace = grace_};
    if (agent.hello.can_host_master) order.record = told_record_;
    if (agent.refused) {
        order.what = *agent.refused;
    } else if (end()) {
        order.what = *end();
    } else if (members_.world() == nullptr && told_ != Generation()) {
        // Its world has just ended; advance() says what follows.
        return std::nullopt;
    } else if (agent.claims_until) {
        order.what = Wait{.text = fmt::format("another agent has slot {}, and may be gone; each "
                                              "node wants a --node-rank of its own",
                                              agent.hello.slot.value_or(0))};
    } else if (members_.is_rejoining() && agent.hello.report.holds) {
        // What runs goes on until it is known what is there.
        return std::nullopt;
    } else if (const auto place = places_.find(incarnation);
               place != places_.end() && (place->second == 0 || store_ready_)) {
        order.what = Run{.world = as_told_to(*members_.world(), place->second),
                         .most_restarts = most_restarts_};
    } else if (agent.ran) {
        order.what = Stop{.generation = *agent.ran};
    } else if (place != places_.end()) {
        order.what = Wait{.text = "the store of group rank 0 begins anew"};
    } else if (const Check* check = precheck_ ? precheck_->directive_for(incarnation) : nullptr) {
        order.what = *check;
    } else if (members_.world() != nullptr) {
        order.what = Wait{.spare = true, .text = "a world runs; this node is a spare"};
    } else {
        order.what = Wait{.text = waiting_};
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

Job::Changed Job::take_changed() { return std::exchange(changed_, {}); }

}  // namespace muster::master
