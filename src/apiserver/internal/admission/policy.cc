#include "apiserver/internal/admission/policy.h"

#include "apiserver/objects/json_access.h"
#include "apiserver/objects/label_selection.h"
#include "base/trimmed.h"

namespace muster::apiserver {
namespace {

using Kind = cel::Type::Kind;

ExpressionScope policy_scope(bool params, bool authorizer, const PolicyVariables& variables) {
    return {.params = params, .authorizer = authorizer, .variables = variables.declaration};
}

Policy::Validation validation_of(const json::object& fields, bool params,
                                 const PolicyVariables& variables) {
    Policy::Validation made{
        .expression = compile_validation(string_at(fields, "expression"), params, variables),
        .message = std::string(string_at(fields, "message")),
        .message_expression = {},
        .reason = std::string(string_at(fields, "reason"))};
    const std::string_view message = string_at(fields, "messageExpression");
    if (!message.empty()) made.message_expression = compile_message(message, params, variables);
    return made;
}

}  // namespace

AdmissionExpression compile_variable(const json::object& variable, bool params,
                                     const PolicyVariables& before) {
    return compile_expression(string_at(variable, "expression"), policy_scope(params, true, before),
                              {});
}

AdmissionExpression compile_validation(std::string_view source, bool params,
                                       const PolicyVariables& variables) {
    return compile_expression(source, policy_scope(params, true, variables), {Kind::kBool});
}

AdmissionExpression compile_message(std::string_view source, bool params,
                                    const PolicyVariables& variables) {
    return compile_expression(source, policy_scope(params, false, variables), {Kind::kString});
}

AdmissionExpression compile_annotation(std::string_view source, bool params,
                                       const PolicyVariables& variables) {
    return compile_expression(trimmed(source, kTextBlanks), policy_scope(params, true, variables),
                              {Kind::kString, Kind::kNull});
}

Policy read_policy(const json::object& object) {
    const json::object& spec = child(object, "spec");
    Policy policy;
    policy.name = name_of(object);
    policy.ignores_failure = string_at(spec, "failurePolicy") == "Ignore";
    policy.writes = read_selection(child(spec, "matchConstraints"));
    if (const json::object* kind = object_at(spec, "paramKind"))
        policy.param_kind = {std::string(string_at(*kind, "apiVersion")),
                             std::string(string_at(*kind, "kind"))};
    const bool params = policy.param_kind.has_value();
    policy.conditions = read_match_conditions(spec, params);
    for (const json::object* variable : objects_at(spec, "variables"))
        add_variable(policy.variables, std::string(string_at(*variable, "name")),
                     compile_variable(*variable, params, policy.variables));
    for (const json::object* validation : objects_at(spec, "validations"))
        policy.validations.push_back(validation_of(*validation, params, policy.variables));
    for (const json::object* annotation : objects_at(spec, "auditAnnotations"))
        policy.audit_annotations.push_back(
            {std::string(string_at(*annotation, "key")),
             compile_annotation(string_at(*annotation, "valueExpression"), params,
                                policy.variables)});
    return policy;
}

PolicyBinding read_policy_binding(const json::object& object) {
    const json::object& spec = child(object, "spec");
    PolicyBinding binding;
    binding.name = name_of(object);
    binding.policy = string_at(spec, "policyName");
    binding.actions = strings_at(spec, "validationActions");
    if (const json::object* writes = object_at(spec, "matchResources")) {
        binding.writes = read_selection(*writes);
        binding.writes->any_resource = true;
    }
    if (const json::object* params = object_at(spec, "paramRef")) {
        auto selector = label_selector_of(object_at(*params, "selector"));
        binding.params = {.name = std::string(string_at(*params, "name")),
                          .namespace_ = std::string(string_at(*params, "namespace")),
                          .selector = selector ? *std::move(selector) : kube::LabelSelector(),
                          .needs_one = string_at(*params, "parameterNotFoundAction") == "Deny"};
    }
    return binding;
}

}  // namespace muster::apiserver
