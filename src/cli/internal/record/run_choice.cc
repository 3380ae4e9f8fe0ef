#include "cli/internal/record/run_choice.h"

#include <algorithm>

namespace muster::cli {

std::string FoundRun::state() const {
    if (alive) return "running";
    return record.end ? record.end->result : "lost";
}

const FoundRun* choose_run(const std::vector<FoundRun>& runs, const std::string& word) {
    const FoundRun* newest = nullptr;
    for (const FoundRun& run : runs) {
        if (run.record.name == word) return &run;
        const bool has_job = std::ranges::find(run.record.subjects, word, &RunSubject::name) !=
                             run.record.subjects.end();
        if (!has_job) continue;
        if (newest == nullptr || run.record.started > newest->record.started) newest = &run;
    }
    return newest;
}

std::vector<FoundRun> runs_over_limits(std::vector<FoundRun> runs, const RunLimits& limits) {
    sort_runs(runs);
    std::vector<FoundRun> over;
    std::size_t count = 0;
    std::uint64_t bytes = 0;
    for (FoundRun& run : runs) {
        ++count;
        bytes += run.bytes;
        if (!run.alive && (count > limits.runs || bytes > limits.bytes))
            over.push_back(std::move(run));
    }
    std::ranges::reverse(over);
    return over;
}

void sort_runs(std::vector<FoundRun>& runs) {
    std::ranges::sort(runs, [](const FoundRun& a, const FoundRun& b) {
        if (a.record.started != b.record.started) return a.record.started > b.record.started;
        return a.record.name < b.record.name;
    });
}

}  // namespace muster::cli
