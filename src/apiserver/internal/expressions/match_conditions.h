#pragma once

#include <string>
#include <vector>

#include "apiserver/internal/expressions/admission_expression.h"
#include "apiserver/objects/field_errors.h"

namespace muster::apiserver {

/// A condition that must hold, else something is not asked about a write.
struct MatchCondition {
    std::string name;
    AdmissionExpression expression;
};

/// `matchConditions` of a webhook or policy, which was validated.
std::vector<MatchCondition> read_match_conditions(const json::object& parent, bool params);
/// Adds what is wrong with them. `at`: the path of the parent.
void check_match_conditions(const json::object& parent, const std::string& at, bool params,
                            FieldErrors& field_errors);

/// What the conditions say of a write.
struct ConditionVerdict {
    bool matches = true;
    std::string error;  ///< "": none; else neither is known
};
/// Upstream: pkg/admission/plugin/webhook/matchconditions. Void if the evaluator is unfinished
/// afterwards.
ConditionVerdict evaluate_conditions(const std::vector<MatchCondition>& conditions,
                                     AdmissionEvaluator& evaluator);

}  // namespace muster::apiserver
