#include "manifest/problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/visible_text.h"

namespace muster::manifest {

std::string format(const Problem& problem) {
    std::string text = problem.source;
    if (problem.place.line > 0)
        text += fmt::format(":{}:{}", problem.place.line, problem.place.column);
    text += problem.severity == Severity::kError ? ": error: " : ": warning: ";
    if (!problem.field.empty()) text += problem.field + ": ";
    return visible_text(text + problem.message);
}

void sort_problems(std::vector<Problem>& problems) {
    std::vector<std::string> sources;
    for (const Problem& problem : problems)
        if (std::ranges::find(sources, problem.source) == sources.end())
            sources.push_back(problem.source);
    std::vector<std::tuple<std::ptrdiff_t, int, int, std::size_t>> order;
    for (std::size_t i = 0; i < problems.size(); ++i) {
        auto source = std::ranges::find(sources, problems[i].source) - sources.begin();
        order.emplace_back(source, problems[i].place.line, problems[i].place.column, i);
    }
    std::ranges::sort(order);
    std::vector<Problem> sorted;
    for (const auto& [source, line, column, index] : order) {
        if (std::ranges::find(sorted, problems[index]) == sorted.end())
            sorted.push_back(std::move(problems[index]));
    }
    problems = std::move(sorted);
}

bool has_errors(const std::vector<Problem>& problems) {
    return std::ranges::any_of(
        problems, [](const Problem& problem) { return problem.severity == Severity::kError; });
}

std::string count_problems(const std::vector<Problem>& problems) {
    auto errors = std::ranges::count(problems, Severity::kError, &Problem::severity);
    auto warnings = std::ranges::count(problems, Severity::kWarning, &Problem::severity);
    auto words = [](std::ptrdiff_t count, std::string_view what) {
        return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
    };
    if (errors > 0 && warnings > 0)
        return words(errors, "error") + " and " + words(warnings, "warning");
    if (errors > 0) return words(errors, "error");
    return warnings > 0 ? words(warnings, "warning") : std::string();
}

}  // namespace muster::manifest
