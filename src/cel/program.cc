#include "cel/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "cel/internal/checker.h"
#include "cel/internal/costs/cost_estimate.h"
#include "cel/internal/evaluator.h"

namespace muster::cel {

std::expected<Program, std::vector<Issue>> Program::compile(std::string_view source,
                                                            std::span<const Variable> variables) {
    auto parsed = parse(source);
    if (!parsed) return std::unexpected(std::move(parsed).error());
    std::vector<Issue> issues = check(**parsed, variables);
    if (!issues.empty()) return std::unexpected(std::move(issues));
    Program program(*std::move(parsed));
    program.most_cost_ = estimate_most_cost(*program.root_, variables);
    for (const Variable& variable : variables)
        if (variable.declaration) program.declarations_.push_back(variable.declaration);
    return program;
}

Program::Evaluation Program::evaluate(std::span<const Binding> variables,
                                      std::uint64_t limit) const {
    Evaluator evaluator(variables, limit);
    Outcome outcome = evaluator.evaluate(*root_);
    return {std::move(outcome), evaluator.cost()};
}

bool Program::uses(const Expression& expression, std::string_view variable) {
    auto in = [&](const ExpressionPtr& child) { return child && uses(*child, variable); };
    struct Uses {
        decltype(in)& look;
        std::string_view variable;
        bool operator()(const Literal&) { return false; }
        bool operator()(const MakeObject&) { return false; }
        bool operator()(const Identifier& identifier) { return identifier.name == variable; }
        bool operator()(const Select& select) { return look(select.operand); }
        bool operator()(const Call& call) {
            return look(call.target) || std::ranges::any_of(call.arguments, look);
        }
        bool operator()(const MakeList& list) { return std::ranges::any_of(list.elements, look); }
        bool operator()(const MakeMap& map) {
            return std::ranges::any_of(map.entries, [&](const MakeMap::Entry& entry) {
                return look(entry.key) || look(entry.value);
            });
        }
        bool operator()(const Comprehension& fold) {
            return look(fold.range) || look(fold.initial) || look(fold.condition) ||
                   look(fold.step) || look(fold.result);
        }
    };
    return std::visit(Uses{in, variable}, expression.node);
}

std::string describe(std::string_view source, std::vector<Issue> issues) {
    // Each may show a line as long as the source.
    constexpr std::size_t kMostIssues = 100;
    constexpr std::size_t kMostBytes = std::size_t{16} * 1024;
    const std::size_t most = std::min(issues.size(), kMostIssues);
    std::ranges::partial_sort(issues, issues.begin() + static_cast<std::ptrdiff_t>(most),
                              [](const Issue& a, const Issue& b) {
                                  return std::tie(a.at, a.message) < std::tie(b.at, b.message);
                              });
    std::string text;
    std::size_t line = 1;
    std::size_t begin = 0;  // of that line
    std::size_t shown_issues = 0;
    for (; shown_issues < most && text.size() <= kMostBytes; ++shown_issues) {
        const Issue& issue = issues[shown_issues];
        for (std::size_t end = 0; (end = source.find('\n', begin)) < issue.at; ++line)
            begin = end + 1;
        const std::uint64_t column = code_points(source.substr(begin, issue.at - begin));
        std::string shown(source.substr(begin, source.find('\n', begin) - begin));
        std::ranges::replace(shown, '\t', ' ');
        if (!text.empty()) text += '\n';
        text += fmt::format("ERROR: <input>:{}:{}: {}\n | {}\n | {:.>{}}^", line, column + 1,
                            issue.message, shown, "", column);
    }
    if (shown_issues < issues.size())
        text += fmt::format("\nand {} more", issues.size() - shown_issues);
    return text;
}

}  // namespace muster::cel
