#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apiserver/internal/admission/write_selection.h"
#include "apiserver/internal/expressions/match_conditions.h"
#include "kube/objects/selector.h"
#include "kube/values/json.h"

namespace muster::apiserver {

/// A ValidatingAdmissionPolicy, compiled. Immutable, any thread.
struct Policy {
    struct Validation {
        AdmissionExpression expression;
        std::string message;
        std::optional<AdmissionExpression> message_expression;
        std::string reason;
    };
    struct AuditAnnotation {
        std::string key;
        AdmissionExpression expression;
    };
    struct ParamKind {
        std::string api_version;
        std::string kind;
    };

    std::string name;
    bool ignores_failure = false;
    WriteSelection writes;
    std::optional<ParamKind> param_kind;
    std::vector<MatchCondition> conditions;
    PolicyVariables variables;
    std::vector<Validation> validations;
    std::vector<AuditAnnotation> audit_annotations;
};

/// A ValidatingAdmissionPolicyBinding.
struct PolicyBinding {
    struct ParamRef {
        std::string name;  ///< empty: those that the selector selects
        std::string namespace_;
        kube::LabelSelector selector;
        bool needs_one = false;  ///< parameterNotFoundAction: Deny
    };

    std::string name;
    std::string policy;
    std::vector<std::string> actions;  ///< Deny, Warn, Audit
    std::optional<WriteSelection> writes;
    std::optional<ParamRef> params;
};

// Objects that the strategies of their kinds have accepted.

Policy read_policy(const json::object& object);
PolicyBinding read_policy_binding(const json::object& object);

/// The expressions of a policy, as its strategy checks them too.
AdmissionExpression compile_variable(const json::object& variable, bool params,
                                     const PolicyVariables& before);
AdmissionExpression compile_validation(std::string_view source, bool params,
                                       const PolicyVariables& variables);
AdmissionExpression compile_message(std::string_view source, bool params,
                                    const PolicyVariables& variables);
AdmissionExpression compile_annotation(std::string_view source, bool params,
                                       const PolicyVariables& variables);

}  // namespace muster::apiserver
