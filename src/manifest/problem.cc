#include "manifest/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

#include "base/visible_text.h"

namespace muster::manifest {

std::string_view severity_name(Severity severity) {
    if (severity == Severity::kError) return "error";
    return severity == Severity::kWarning ? "warning" : "note";
}

std::string format(const Problem& problem) {
    std::string text = problem.source;
    if (problem.place.line > 0)
        text += fmt::format(":{}:{}", problem.place.line, problem.place.column);
    text += fmt::format(": {}: ", severity_name(problem.severity));
    if (!problem.field.empty()) text += problem.field + ": ";
    return visible_text(text + problem.message);
}

void sort_problems(std::vector<Problem>& problems) {
    std::unordered_map<std::string, std::size_t> sources;  // by their order
    std::vector<std::tuple<std::size_t, int, int, std::size_t>> order;
    for (std::size_t i = 0; i < problems.size(); ++i) {
        const std::size_t source =
            sources.emplace(problems[i].source, sources.size()).first->second;
        order.emplace_back(source, problems[i].place.line, problems[i].place.column, i);
    }
    std::ranges::sort(order);
    const auto content = [](const Problem* problem) {
        return std::tie(problem->source, problem->place.line, problem->place.column, problem->field,
                        problem->message, problem->severity);
    };
    const auto before = [&](const Problem* a, const Problem* b) { return content(a) < content(b); };
    std::set<const Problem*, decltype(before)> kept(before);
    std::vector<Problem> sorted;
    sorted.reserve(problems.size());  // what is kept stays where it is
    for (const auto& [source, line, column, index] : order) {
        if (kept.contains(&problems[index])) continue;
        sorted.push_back(std::move(problems[index]));
        kept.insert(&sorted.back());
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
