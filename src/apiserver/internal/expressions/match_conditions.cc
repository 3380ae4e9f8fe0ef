#include "apiserver/internal/expressions/match_conditions.h"

#include <fmt/format.h>

#include <set>

#include "apiserver/objects/json_access.h"
#include "base/trimmed.h"
#include "kube/values/name_syntax.h"

namespace muster::apiserver {
namespace {

// Upstream's figures: k8s.io/apiserver v0.33, pkg/apis/cel/config.go.
constexpr std::uint64_t kConditionBudget = 2'500'000;
constexpr std::size_t kMostConditions = 64;

AdmissionExpression compiled_condition(std::string_view source, bool params) {
    return compile_expression(source, {.params = params, .authorizer = true, .variables = nullptr},
                              {cel::Type::Kind::kBool});
}

}  // namespace

std::vector<MatchCondition> read_match_conditions(const json::object& parent, bool params) {
    std::vector<MatchCondition> conditions;
    for (const json::object* condition : objects_at(parent, "matchConditions"))
        conditions.push_back({std::string(string_at(*condition, "name")),
                              compiled_condition(string_at(*condition, "expression"), params)});
    return conditions;
}

void check_match_conditions(const json::object& parent, const std::string& at, bool params,
                            FieldErrors& field_errors) {
    const std::string field = at + ".matchConditions";
    const auto conditions = objects_at(parent, "matchConditions");
    if (conditions.size() > kMostConditions) {
        field_errors.push_back(too_many(field, conditions.size(), kMostConditions));
        return;
    }
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < conditions.size(); ++i) {
        const std::string here = fmt::format("{}[{}]", field, i);
        const std::string_view source =
            trimmed(string_at(*conditions[i], "expression"), kTextBlanks);
        if (source.empty()) {
            field_errors.push_back(required(here + ".expression"));
        } else if (const auto made = compiled_condition(source, params); !made.problem.empty()) {
            field_errors.push_back(
                invalid_value(here + ".expression", json::value(source), made.problem));
        }
        const std::string_view name = string_at(*conditions[i], "name");
        if (name.empty()) {
            field_errors.push_back(required(here + ".name"));
            continue;
        }
        if (std::string problem = kube::label_key_problem(name); !problem.empty())
            field_errors.push_back(invalid_value(here + ".name", json::value(name), problem));
        if (!names.insert(name).second)
            field_errors.push_back(duplicate(here + ".name", json::value(name)));
    }
}

ConditionVerdict evaluate_conditions(const std::vector<MatchCondition>& conditions,
                                     AdmissionEvaluator& evaluator) {
    ExpressionBudget budget{kConditionBudget};
    std::vector<std::string> errors;
    bool differs = false;
    for (const MatchCondition& condition : conditions) {
        const auto value = evaluator.evaluate(condition.expression, budget);
        if (!value) return {.matches = false, .error = std::string(kOutOfBudget)};
        if (!*value) {
            errors.push_back(value->error());
        } else {
            const bool* holds = (*value)->as<bool>();
            differs |= holds != nullptr && !*holds;
        }
    }
    // What does not hold counts more than what failed.
    if (differs) return {.matches = false, .error = {}};
    if (errors.empty()) return {};
    std::string text = errors.front();
    for (std::size_t i = 1; i < errors.size(); ++i) text += ", " + errors[i];
    if (errors.size() > 1) text = "[" + text + "]";
    return {.matches = false, .error = std::move(text)};
}

}  // namespace muster::apiserver
