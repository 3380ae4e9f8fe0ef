#include "master/terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "master/job.h"

namespace muster::master {
namespace {

/// Terms that differ are remembered up to this number, so that each is told once.
constexpr std::size_t kMostTold = 64;

std::string seconds(std::chrono::milliseconds time) {
    return fmt::format("{:g}", std::chrono::duration<double>(time).count());
}

std::string budget(const Terms& terms, Charge charge) {
    const auto found = std::ranges::find(terms.budgets, charge, &BudgetTerm::charge);
    if (found == terms.budgets.end()) return "no limit";
    if (found->window == found->window.zero()) return std::to_string(found->incidents);
    return fmt::format("{} in {} s", found->incidents, found->window.count());
}

std::string check(const Terms& terms) {
    const std::string slow = terms.exclude_slow ? ", slow nodes are excluded" : "";
    switch (terms.check) {
        case NodeCheckKind::kNone:
            return "none";
        case NodeCheckKind::kNodes:
            return "nodes" + slow;
        case NodeCheckKind::kLinks:
            return "links" + slow;
    }
    return "";
}

std::string policy(const Terms& terms) {
    return fmt::format(
        "{} final and {} bad-node exit codes, {} bad-node errors, --give-up-after {}",
        terms.policy.final_codes.size(), terms.policy.bad_node_codes.size(),
        terms.policy.bad_node_errors.size(), terms.policy.give_up_after);
}

}  // namespace

JobOptions with_terms(JobOptions options, const Terms& terms) {
    options.membership.min_nodes = terms.min_nodes;
    options.membership.max_nodes = terms.max_nodes;
    options.membership.node_unit = terms.node_unit;
    options.membership.grow_at_failure = terms.grow_at_failure;
    options.membership.last_call = terms.last_call;
    options.membership.rejoin = 2 * terms.silence;
    options.policy = terms.policy;
    options.budgets = {};
    for (const BudgetTerm& one : terms.budgets)
        options.budgets[static_cast<std::size_t>(one.charge)] = {.incidents = one.incidents,
                                                                 .window = one.window};
    options.claim = terms.silence + std::chrono::seconds(2);
    options.broken_grace = terms.broken_grace;
    options.healthy_grace = terms.healthy_grace;
    return options;
}

JobOptions options_at_start(JobOptions options, const JobTerms& terms) {
    options.membership.await_first = options.terms_of_nodes;
    return terms.now() ? with_terms(std::move(options), *terms.now()) : options;
}

std::string other_terms(const Hello& hello, const JobTerms& terms) {
    return fmt::format("{} has other terms than the job: {}; they hold from the next world on",
                       hello.name.empty() ? hello.address : hello.name,
                       difference(*terms.next(), *terms.now()));
}

std::string difference(const Terms& given, const Terms& of_job) {
    std::string text;
    const auto add = [&](std::string_view flag, const std::string& one, const std::string& other) {
        if (one != other)
            text +=
                fmt::format("{}{} {} (the job's: {})", text.empty() ? "" : ", ", flag, one, other);
    };
    const auto nodes = [](const Terms& terms) {
        return fmt::format("{}:{}", terms.min_nodes, terms.max_nodes);
    };
    add("--nnodes", nodes(given), nodes(of_job));
    add("--node-unit", std::to_string(given.node_unit), std::to_string(of_job.node_unit));
    add("--grow", given.grow_at_failure ? "at-failure" : "now",
        of_job.grow_at_failure ? "at-failure" : "now");
    add("last call", seconds(given.last_call), seconds(of_job.last_call));
    add("--heartbeat", seconds(given.silence), seconds(of_job.silence));
    add("--stop-grace", seconds(given.healthy_grace), seconds(of_job.healthy_grace));
    add("grace after a failure", seconds(given.broken_grace), seconds(of_job.broken_grace));
    add("--max-restarts", budget(given, Charge::kWorker), budget(of_job, Charge::kWorker));
    add("node check", check(given), check(of_job));
    add("policy", policy(given), policy(of_job));
    if (text.empty() && given != of_job)
        text = "other budgets, or other exit codes or errors in its policy";
    return text;
}

Terms with_nodes(const Terms& terms, int nodes) {
    Terms made = terms;
    made.max_nodes = nodes;
    made.min_nodes = terms.min_nodes == terms.max_nodes ? nodes : std::min(terms.min_nodes, nodes);
    const MembershipLimits limits{
        .min_nodes = made.min_nodes, .max_nodes = made.max_nodes, .node_unit = made.node_unit};
    return check(limits) ? made : terms;
}

JobTerms::Heard JobTerms::heard(const std::optional<Terms>& said, bool is_new) {
    if (!said) return Heard::kNothing;
    const Terms terms = wanted_ ? with_nodes(*said, *wanted_) : *said;
    if (!now_) {
        now_ = terms;
        return Heard::kFirst;
    }
    if (!is_new) return Heard::kNothing;
    if (terms == *now_) {
        next_.reset();
        return Heard::kNothing;
    }
    next_ = terms;
    if (std::ranges::find(told_, terms) != told_.end()) return Heard::kNothing;
    if (told_.size() >= kMostTold) told_.erase(told_.begin());
    told_.push_back(terms);
    return Heard::kOthers;
}

void JobTerms::wants_nodes(int nodes) {
    wanted_ = nodes;
    if (!now_) return;
    next_ = with_nodes(next_ ? *next_ : *now_, nodes);
    if (next_ == now_) next_.reset();
}

void JobTerms::take_next() {
    if (next_) now_ = std::exchange(next_, std::nullopt);
}

}  // namespace muster::master
