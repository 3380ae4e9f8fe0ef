#include "cli/internal/simulate/outcome_text.h"

#include <fmt/format.h>

#include <chrono>

namespace muster::cli {

namespace {

json::value took(const sim::JobOutcome& job) {
    return job.took ? json::value(seconds(*job.took)) : json::value(nullptr);
}

}  // namespace

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

std::string describe(const sim::JobOutcome& job) {
    std::string text = fmt::format("{} {}/{} ", job.kind, job.namespace_, job.name);
    if (job.deleted) return text + "was deleted";
    text += job.state.empty() ? "shows nothing" : job.state;
    if (job.took) text += fmt::format(" after {:.3f} s", seconds(*job.took));
    if (job.restarts > 0)
        text += fmt::format(", {} restart{}", job.restarts, job.restarts == 1 ? "" : "s");
    return job.message.empty() ? text : fmt::format("{} ({})", text, job.message);
}

int exit_status(const sim::SimulationOutcome& outcome, bool scenario) {
    if (!outcome.violations.empty()) return kRulesBroken;
    // In a scenario jobs fail on purpose.
    if (scenario) return 0;
    int status = 0;
    for (const sim::JobOutcome& job : outcome.jobs) {
        if (job.deleted || job.state == "Succeeded") continue;
        if (job.state == "Failed")
            status = 1;
        else if (status == 0)
            status = kNotEnded;
    }
    return status;
}

json::object to_json(const sim::SimulationOutcome& outcome, std::uint64_t seed) {
    json::array jobs;
    for (const sim::JobOutcome& job : outcome.jobs)
        jobs.push_back(json::object{{"kind", job.kind},
                                    {"namespace", job.namespace_},
                                    {"name", job.name},
                                    {"state", job.state},
                                    {"message", job.message},
                                    {"deleted", job.deleted},
                                    {"restarts", job.restarts},
                                    {"durationSeconds", took(job)},
                                    {"completionTime", job.completion_time}});
    json::array violations;
    for (const sim::Violation& violation : outcome.violations)
        violations.push_back(json::object{{"atSeconds", seconds(violation.at.time_since_epoch())},
                                          {"invariant", violation.invariant},
                                          {"what", violation.what}});
    json::object whole{{"seed", seed},
                       {"hash", fmt::format("{:016x}", outcome.hash)},
                       {"changes", outcome.changes},
                       {"pods", outcome.pods},
                       {"virtualSeconds", seconds(outcome.virtual_time)},
                       {"jobs", std::move(jobs)},
                       {"violations", std::move(violations)}};
    if (outcome.agents) {
        json::object faults;
        for (const auto& [kind, times] : outcome.agents->faults) faults[kind] = times;
        whole["agents"] = {{"faults", std::move(faults)},
                           {"worlds", outcome.agents->worlds},
                           {"longestRecoverySeconds", seconds(outcome.agents->recovery)},
                           {"failed", outcome.agents->failed}};
    }
    return whole;
}

}  // namespace muster::cli
