#include "sim/ledger/ledger.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"

namespace muster::sim {

namespace {

constexpr std::array kNames = std::to_array<std::string_view>({
    // of jobs, pods and operators (sim/invariants.h)
    "one-pod",  // one live pod for a replica index of a generation, or for a rank that is not migrated
    "new-ids",          // of kinds whose ids rise: the pod that follows another has a new one
    "order",            // a pod waits for those that its type starts after
    "final",            // a terminal condition and completionTime never change
    "exclusive",        // Succeeded and Failed, Running and Restarting, Running and finished
    "completion-time",  // exactly when finished
    "restarts-fall",    // status.replicaStatuses.*.restarts never goes down
    "restarts-most",    // and is never more than happened
    "restarts-least",   // nor, once the job has ended, less than an operator saw
    "groups",           // a group's pod is followed by one of the next generation
    "back-off",         // a replica whose pods go again and again gets the next after a pause
    "backoff-limit",    // no pod is made again at the limit, and no job succeeds beyond it
    "deadline",         // fires within a second
    "ttl",              // deletes once, not early, and at all
    "ends",             // every job ends or says what it waits for
    "orphans",          // a job leaves no pod and no service behind
    "quiet",            // nothing is written when nothing happens
    "quiet-job",        // nor about a job that runs and of which nothing happens
    "plan-once",        // a ScalePlan is executed once, and after the end of the one before
    "one-leader",       // no write of a deposed leader has an effect after its successor's first
    // of agents and masters (sim/elastic/invariants.h)
    "worlds",        // one world of a generation, of a size that may be; all members agree
    "ranks",         // one live holder of each rank
    "stores",        // workers find nothing that the world before has stored
    "healthy-stop",  // healthy workers are told to stop only for a reason
    "charges",       // each failure that is due is charged once, and nothing else
    "verdict",       // an end is one of this job, is final, and no world follows it
    "agent-end",     // agents end as their job does, and after their workers
    "recovery",      // when all is mended, all run in time
    // of both together (sim/internal/elastic_job.h)
    "accepted",       // muster-run takes what the operator tells it
    "success",        // a job whose pods run agents succeeds when a master has said so
    "real-restarts",  // the operator counts no more restarts than containers have ended
    "one-world",  // workers of two generations run beside each other only while a fault explains it
    "workers-end",  // workers do not outlive their job
});

}  // namespace

std::span<const std::string_view> invariant_names() { return kNames; }

Ledger::Ledger(const Clock& clock, std::vector<std::string> except, LedgerSinks sinks)
    : clock_(clock), except_(except.begin(), except.end()), sinks_(std::move(sinks)) {}

void Ledger::violated(std::string_view invariant, std::string what) {
    CHECK(std::ranges::find(kNames, invariant) != kNames.end(), "a rule has a name");
    if (except_.contains(invariant)) return;
    violations_.push_back({clock_.now(), std::string(invariant), std::move(what)});
    if (sinks_.violated) sinks_.violated(violations_.back());
}

void Ledger::say(std::string who, std::string what) {
    if (sinks_.said) sinks_.said(std::move(who), std::move(what));
}

}  // namespace muster::sim
