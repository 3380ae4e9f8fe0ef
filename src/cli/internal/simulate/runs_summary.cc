#include "cli/internal/simulate/runs_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "cli/internal/simulate/outcome_text.h"

namespace muster::cli {

namespace {

/// Of values in order: the least that so many percent of them do not exceed.
double percentile(const std::vector<double>& sorted, std::size_t percent) {
    const std::size_t rank = (percent * sorted.size() + 99) / 100;
    return sorted[std::max<std::size_t>(rank, 1) - 1];
}

std::vector<double> in_order(std::vector<double> values) {
    std::ranges::sort(values);
    return values;
}

json::value distribution(const std::vector<double>& values) {
    if (values.empty()) return nullptr;
    const std::vector<double> sorted = in_order(values);
    return json::object{{"p50", percentile(sorted, 50)},
                        {"p90", percentile(sorted, 90)},
                        {"p99", percentile(sorted, 99)},
                        {"most", sorted.back()}};
}

/// `digits`: behind the point.
std::string distribution_text(const std::vector<double>& values, int digits) {
    const std::vector<double> sorted = in_order(values);
    return fmt::format("p50 {:.{}f}, p90 {:.{}f}, p99 {:.{}f}, most {:.{}f}",
                       percentile(sorted, 50), digits, percentile(sorted, 90), digits,
                       percentile(sorted, 99), digits, sorted.back(), digits);
}

}  // namespace

void RunsSummary::add(const sim::SimulationOutcome& outcome) {
    for (const sim::JobOutcome& job : outcome.jobs) {
        Runs& runs = jobs_[{job.namespace_, job.name, job.kind}];
        if (job.deleted)
            ++runs.deleted;
        else if (job.state == "Succeeded")
            ++runs.succeeded;
        else if (job.state == "Failed")
            ++runs.failed;
        else
            ++runs.unfinished;
        if (job.deleted) continue;
        if (job.took) runs.seconds.push_back(seconds(*job.took));
        runs.restarts.push_back(static_cast<double>(job.restarts));
    }
}

std::string RunsSummary::text() const {
    std::string text;
    for (const auto& [name, runs] : jobs_) {
        text += fmt::format("muster: {} {}/{}: {} succeeded, {} failed", std::get<2>(name),
                            std::get<0>(name), std::get<1>(name), runs.succeeded, runs.failed);
        if (runs.unfinished > 0) text += fmt::format(", {} had not ended", runs.unfinished);
        if (runs.deleted > 0) text += fmt::format(", {} deleted", runs.deleted);
        text += '\n';
        if (!runs.seconds.empty())
            text += fmt::format("muster:   seconds   {}\n", distribution_text(runs.seconds, 3));
        if (!runs.restarts.empty())
            text += fmt::format("muster:   restarts  {}\n", distribution_text(runs.restarts, 0));
    }
    return text;
}

json::array RunsSummary::to_json() const {
    json::array jobs;
    for (const auto& [name, runs] : jobs_)
        jobs.push_back(json::object{{"kind", std::get<2>(name)},
                                    {"namespace", std::get<0>(name)},
                                    {"name", std::get<1>(name)},
                                    {"succeeded", runs.succeeded},
                                    {"failed", runs.failed},
                                    {"unfinished", runs.unfinished},
                                    {"deleted", runs.deleted},
                                    {"durationSeconds", distribution(runs.seconds)},
                                    {"restarts", distribution(runs.restarts)}});
    return jobs;
}

}  // namespace muster::cli
