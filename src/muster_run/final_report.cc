#include "muster_run/final_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <ranges>

#include "base/visible_text.h"

namespace muster::run {
namespace {

constexpr int kFailed = 1;
constexpr int kSignalled = 128;

}  // namespace

FinalReport final_report(const launch::LaunchPlan& plan, const NodeOutcome& outcome) {
    using Kind = agent::AgentEnd::Kind;
    const Kind kind = outcome.end.kind;
    if (kind == Kind::kSucceeded) return {.exit_code = EXIT_SUCCESS};
    if (kind == Kind::kLeft && outcome.signal) return {.exit_code = kSignalled + *outcome.signal};
    FinalReport report{.exit_code = kFailed};
    if (kind == Kind::kFailed && !outcome.failures.empty())
        report.text =
            workers::failure_report(plan.command.script, outcome.address, outcome.failures) + "\n";
    report.text += fmt::format("{}: {}\n", to_string(plan.called), outcome.end.text);
    if (kind == Kind::kGaveUp && !outcome.end.had_joined && !plan.rendezvous.endpoints.empty())
        report.text += fmt::format(
            "  The nodes meet at {} ({}): is one of this job there, and does every node say the "
            "same?\n",
            fmt::join(plan.rendezvous.endpoints | std::views::transform(&launch::Endpoint::text),
                      ", "),
            plan.rendezvous.decided_by);
    // Error files and masters say what they like, and it is read on a terminal.
    report.text = visible_text(report.text);
    return report;
}

}  // namespace muster::run
