#include "failure_policy/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/signal_name.h"

namespace muster::failure_policy {
namespace {

bool is_worker(const job_protocol::FailureReport& seen) {
    return seen.kind == job_protocol::FailureKind::kWorkerExited ||
           seen.kind == job_protocol::FailureKind::kOutOfMemory ||
           seen.kind == job_protocol::FailureKind::kNotStarted;
}

bool exited_with(const job_protocol::FailureReport& seen, const std::set<int>& codes) {
    return seen.kind == job_protocol::FailureKind::kWorkerExited && seen.exit_code &&
           codes.contains(*seen.exit_code);
}

/// What Python prints if the program can't be loaded, and a shell if it does not exist.
bool can_not_start(const job_protocol::FailureReport& seen) {
    constexpr std::array<std::string_view, 5> kErrors = {
        "SyntaxError:", "IndentationError:", "TabError:", "ModuleNotFoundError:", "ImportError:"};
    const bool shell = seen.exit_code == 126 || seen.exit_code == 127;
    const bool no_script = seen.error.find("can't open file") != std::string::npos;
    if (seen.kind == job_protocol::FailureKind::kNotStarted) return true;
    return seen.kind == job_protocol::FailureKind::kWorkerExited &&
           (shell || no_script || std::ranges::any_of(kErrors, [&](std::string_view error) {
                return seen.error.starts_with(error);
            }));
}

bool shows_bad_node(const job_protocol::FailureReport& seen,
                    const job_protocol::PolicyOptions& options) {
    return exited_with(seen, options.bad_node_codes) ||
           (is_worker(seen) && std::ranges::any_of(options.bad_node_errors, [&](const auto& text) {
                return !text.empty() && seen.error.find(text) != std::string::npos;
            }));
}

/// A program that ran for so long has done something, whether or not it reports progress.
constexpr Duration kProgressTime = std::chrono::minutes(10);

/// Whether it says anything about the program: not if someone else ended it, as the loss of a node
/// or a person does.
bool is_its_own(const job_protocol::FailureReport& seen) {
    return is_worker(seen) && (!comes_from_outside(seen.signal) ||
                               seen.kind == job_protocol::FailureKind::kOutOfMemory);
}

bool are_alike(const job_protocol::FailureReport& a, const job_protocol::FailureReport& b) {
    return a.kind == b.kind && a.exit_code == b.exit_code && a.signal == b.signal &&
           a.error == b.error;
}

constexpr std::array kRules = {
    Rule{"final exit code", "a worker's exit code is one of `--final-exit-codes`",
         [](const job_protocol::FailureReport& seen, const Situation&,
            const job_protocol::PolicyOptions& options) {
             return exited_with(seen, options.final_codes);
         },
         Action::kFail, job_protocol::Charge::kNothing, "this exit code was said to be final"},
    Rule{"can't start", "the program can't be loaded (script, syntax, import), before any progress",
         [](const job_protocol::FailureReport& seen, const Situation& now,
            const job_protocol::PolicyOptions&) { return can_not_start(seen) && !now.stepped; },
         Action::kFail, job_protocol::Charge::kNothing, "another try would end in the same way"},
    Rule{"bad node",
         "a worker's exit code is one of `--bad-node-exit-codes`, or its error has one of "
         "`--bad-node-errors`",
         [](const job_protocol::FailureReport& seen, const Situation&,
            const job_protocol::PolicyOptions& options) { return shows_bad_node(seen, options); },
         Action::kReplace, job_protocol::Charge::kNode, "too many nodes were lost"},
    Rule{"check failed", "the node check names the node",
         [](const job_protocol::FailureReport& seen, const Situation&,
            const job_protocol::PolicyOptions&) {
             return seen.kind == job_protocol::FailureKind::kCheckFailed;
         },
         Action::kReplace, job_protocol::Charge::kNode, "too many nodes were lost"},
    Rule{"the same error again", "the same error as before, and no progress between",
         [](const job_protocol::FailureReport& seen, const Situation& now,
            const job_protocol::PolicyOptions&) { return is_worker(seen) && now.repeated; },
         Action::kFail, job_protocol::Charge::kNothing,
         "the program failed twice in the same way with no progress between"},
    Rule{"the same failure each time",
         "`--give-up-after` failures in a row with the same exit code and error, each within ten "
         "minutes of the one before, and no progress between",
         [](const job_protocol::FailureReport&, const Situation& now,
            const job_protocol::PolicyOptions& options) {
             return options.give_up_after > 0 && now.alike >= options.give_up_after;
         },
         Action::kFail, job_protocol::Charge::kNothing,
         "the program fails in the same way each time (--give-up-after 0 lets it continue)"},
    Rule{"out of memory", "a worker was killed for the memory that it used",
         [](const job_protocol::FailureReport& seen, const Situation&,
            const job_protocol::PolicyOptions&) {
             return seen.kind == job_protocol::FailureKind::kOutOfMemory;
         },
         Action::kRestart, job_protocol::Charge::kMemory, "it was killed for memory too often"},
    Rule{"worker died", "a worker died otherwise",
         [](const job_protocol::FailureReport& seen, const Situation&,
            const job_protocol::PolicyOptions&) {
             return seen.kind == job_protocol::FailureKind::kWorkerExited ||
                    seen.kind == job_protocol::FailureKind::kNotStarted;
         },
         Action::kRestart, job_protocol::Charge::kWorker, "all restarts are used up"},
    Rule{"evicted", "the platform takes the node away",
         [](const job_protocol::FailureReport& seen, const Situation&,
            const job_protocol::PolicyOptions&) {
             return seen.kind == job_protocol::FailureKind::kNodeEvicted;
         },
         Action::kLeave, job_protocol::Charge::kNothing, ""},
    Rule{"node lost",
         "an agent's connection broke and it did not come back, or it was silent for "
         "longer than the heartbeat limit",
         [](const job_protocol::FailureReport& seen, const Situation&,
            const job_protocol::PolicyOptions&) {
             return seen.kind == job_protocol::FailureKind::kDisconnected ||
                    seen.kind == job_protocol::FailureKind::kTimedOut;
         },
         Action::kLeave, job_protocol::Charge::kNode, "too many nodes were lost"},
};

auto attempt(const auto& of) { return std::pair(of.generation, of.restarts); }

std::string_view what_is_done(Action action) {
    switch (action) {
        case Action::kRestart:
            return "all workers are restarted";
        case Action::kReplace:
            return "the node is given up, and another takes its place where there is one";
        case Action::kLeave:
            return "it leaves the world";
        case Action::kFail:
            return "the job ends";
    }
    return "";
}

}  // namespace

std::span<const Rule> failure_rules() { return kRules; }

void FailurePolicy::remember(const job_protocol::Incident& incident) {
    budgets_.remember(incident.charge, incident.when);
    remembered_ = incident;
}

Situation FailurePolicy::situation_at(const job_protocol::FailureReport& evidence,
                                      bool charged_before, WallTime now) {
    // The previous incident.
    const auto before = last_ ? std::optional(std::pair(attempt(*last_), last_->error))
                        : remembered_ && !charged_before
                            ? std::optional(std::pair(attempt(*remembered_), remembered_->error))
                            : std::nullopt;
    const bool stepped_since = stepped_ && before && before->first < *stepped_;
    const bool continues =
        last_ && !stepped_since && now - last_at_ < kProgressTime && are_alike(*last_, evidence);
    alike_ = is_its_own(evidence) ? (continues ? alike_ : 0) + 1 : 0;
    return {.stepped = stepped_ && *stepped_ == attempt(evidence),
            .repeated = progress_is_seen_ && !stepped_since && before && !evidence.error.empty() &&
                        before->second == evidence.error,
            .alike = alike_};
}

std::optional<Decision> FailurePolicy::decide(const job_protocol::FailureReport& evidence,
                                              job_protocol::Generation current, WallTime now) {
    if (evidence.generation != current || (last_ && attempt(evidence) <= attempt(*last_)))
        return std::nullopt;
    const bool charged_before = remembered_ && attempt(evidence) <= attempt(*remembered_);
    const Situation situation = situation_at(evidence, charged_before, now);
    const auto* const rule = std::ranges::find_if(
        kRules, [&](const Rule& one) { return one.matches(evidence, situation, options_); });
    CHECK(rule != kRules.end(), "every sign has a rule");
    last_ = evidence;
    last_at_ = now;
    Decision decision{.action = rule->action, .rule = rule, .text = describe(evidence)};
    if (decision.action == Action::kFail) {
        decision.text += fmt::format("; {}: {}", rule->why, what_is_done(decision.action));
    } else if (!charged_before && !budgets_.spend(rule->charge, now)) {
        decision.action = Action::kFail;
        decision.text +=
            fmt::format("; {} ({} of {} {}): {}", rule->why, budgets_.spent(rule->charge, now),
                        *budgets_.limit(rule->charge).incidents, to_string(rule->charge),
                        what_is_done(decision.action));
    } else {
        decision.text += fmt::format("; {}", what_is_done(decision.action));
        if (!charged_before && rule->charge != job_protocol::Charge::kNothing)
            decision.charged = job_protocol::Incident{.charge = rule->charge,
                                                      .when = now,
                                                      .generation = evidence.generation,
                                                      .restarts = evidence.restarts,
                                                      .error = evidence.error};
        if (const auto most = budgets_.limit(rule->charge).incidents; decision.charged && most)
            decision.text += fmt::format(" ({} of {} {})", budgets_.spent(rule->charge, now), *most,
                                         to_string(rule->charge));
    }
    return decision;
}

}  // namespace muster::failure_policy
