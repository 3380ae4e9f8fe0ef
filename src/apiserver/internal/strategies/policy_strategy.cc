#include "apiserver/internal/strategies/policy_strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apiserver/internal/admission/policy.h"
#include "apiserver/internal/strategies/match_resources.h"
#include "apiserver/internal/writing/metadata_rules.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/label_selection.h"
#include "base/lower_case.h"
#include "base/trimmed.h"
#include "kube/values/name_syntax.h"

namespace muster::apiserver {
namespace {

constexpr std::size_t kMostAuditAnnotations = 20;
constexpr std::size_t kLongestAuditExpression = std::size_t{5} * 1024;

void apply_policy_defaults(json::object& object) {
    json::object& spec = ensure_object(object, "spec");
    set_default(spec, "failurePolicy", "Fail");
    if (json::object* match = object_at(spec, "matchConstraints")) default_match_resources(*match);
}

/// Its status is written by the controller that checks its types.
void start_status(json::object& object, WallTime) { object["status"].emplace_object(); }

/// Whether a text is there; else the field is required.
bool has_policy_text(const json::object& parent, std::string_view key, const std::string& at,
                     std::string_view why, FieldErrors& field_errors) {
    if (!trimmed(string_at(parent, key), kTextBlanks).empty()) return true;
    field_errors.push_back(required(fmt::format("{}.{}", at, key), why));
    return false;
}
void refuse_expression(const AdmissionExpression& expression, const std::string& field,
                       FieldErrors& field_errors) {
    if (!expression.problem.empty())
        field_errors.push_back(
            invalid_value(field, json::value(expression.source), expression.problem));
}

void check_param_kind(const json::object& kind, const std::string& at, FieldErrors& field_errors) {
    const std::string version(string_at(kind, "apiVersion"));
    const std::string field = at + ".apiVersion";
    const std::size_t slash = version.find('/');
    if (version.empty()) {
        field_errors.push_back(required(field));
    } else if (slash != version.rfind('/')) {
        field_errors.push_back(invalid_value(field, json::value(version),
                                             "unexpected GroupVersion string: " + version));
    } else {
        const std::string group = slash == version.npos ? "" : version.substr(0, slash);
        const std::string last = slash == version.npos ? version : version.substr(slash + 1);
        if (!group.empty() && !kube::is_dns1123_subdomain(group))
            field_errors.push_back(invalid_value(field, json::value(group), kDnsSubdomainMessage));
        if (last.empty())
            field_errors.push_back(
                invalid_value(field, json::value(version), "version must be specified"));
        else if (!kube::is_dns1035_label(last))
            field_errors.push_back(invalid_value(field, json::value(last), kDns1035LabelMessage));
    }
    const std::string name(string_at(kind, "kind"));
    if (name.empty())
        field_errors.push_back(required(at + ".kind"));
    else if (!kube::is_dns1035_label(lower_case(name)))
        field_errors.push_back(
            invalid_value(at + ".kind", json::value(name),
                          fmt::format("may have mixed case, but should otherwise match: {}",
                                      kDns1035LabelMessage)));
}

bool is_cel_identifier(std::string_view name) {
    static const std::set<std::string_view> kReserved = {
        "true",     "false",   "null",      "in",       "as",  "break",  "const",
        "continue", "else",    "for",       "function", "if",  "import", "let",
        "loop",     "package", "namespace", "return",   "var", "void",   "while"};
    auto fits = [](char c, bool first) {
        return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
               (!first && c >= '0' && c <= '9');
    };
    for (std::size_t i = 0; i < name.size(); ++i)
        if (!fits(name[i], i == 0)) return false;
    return !name.empty() && !kReserved.contains(name);
}

class PolicyCheck {
  public:
    PolicyCheck(const json::object& object, FieldErrors& field_errors)
        : name_(name_of(object)),
          spec_(child(object, "spec")),
          field_errors_(field_errors),
          params_(object_at(spec_, "paramKind") != nullptr) {}

    void run() {
        const std::string_view failure = string_at(spec_, "failurePolicy");
        if (failure != "Fail" && failure != "Ignore")
            field_errors_.push_back(
                not_supported("spec.failurePolicy", failure, {"Fail", "Ignore"}));
        if (params_)
            check_param_kind(*object_at(spec_, "paramKind"), "spec.paramKind", field_errors_);
        if (const json::object* match = object_at(spec_, "matchConstraints")) {
            check_match_resources(*match, "spec.matchConstraints", field_errors_);
            if (objects_at(*match, "resourceRules").empty())
                field_errors_.push_back(required("spec.matchConstraints.resourceRules"));
        } else {
            field_errors_.push_back(required("spec.matchConstraints"));
        }
        check_match_conditions(spec_, "spec", params_, field_errors_);
        check_variables();
        const auto validations = objects_at(spec_, "validations");
        const auto annotations = objects_at(spec_, "auditAnnotations");
        if (validations.empty() && annotations.empty()) {
            constexpr std::string_view kOne =
                "validations or auditAnnotations must contain at least one item";
            field_errors_.push_back(required("spec.validations", kOne));
            field_errors_.push_back(required("spec.auditAnnotations", kOne));
        }
        for (std::size_t i = 0; i < validations.size(); ++i)
            check_validation(*validations[i], fmt::format("spec.validations[{}]", i));
        check_annotations(annotations);
    }

  private:
    void check_variables() {
        const auto all = objects_at(spec_, "variables");
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::string at = fmt::format("spec.variables[{}]", i);
            const std::string name(string_at(*all[i], "name"));
            if (has_policy_text(*all[i], "name", at, "name is not specified", field_errors_) &&
                !is_cel_identifier(name))
                field_errors_.push_back(invalid_value(at + ".name", json::value(name),
                                                      "name is not a valid CEL identifier"));
            if (!has_policy_text(*all[i], "expression", at, "expression is not specified",
                                 field_errors_))
                continue;
            AdmissionExpression made = compile_variable(*all[i], params_, variables_);
            refuse_expression(made, at + ".expression", field_errors_);
            add_variable(variables_, name, std::move(made));
        }
    }

    void check_validation(const json::object& validation, const std::string& at) {
        if (has_policy_text(validation, "expression", at, "expression is not specified",
                            field_errors_))
            refuse_expression(
                compile_validation(string_at(validation, "expression"), params_, variables_),
                at + ".expression", field_errors_);
        const std::string_view source = string_at(validation, "messageExpression");
        if (!source.empty() && trimmed(source, kTextBlanks).empty())
            field_errors_.push_back(invalid_value(at + ".messageExpression", json::value(source),
                                                  "must be non-empty if specified"));
        else if (!source.empty())
            refuse_expression(compile_message(source, params_, variables_),
                              at + ".messageExpression", field_errors_);
        const std::string_view message = string_at(validation, "message");
        const std::string_view shown = trimmed(message, kTextBlanks);
        if (!message.empty() && shown.empty())
            field_errors_.push_back(invalid_value(at + ".message", json::value(message),
                                                  "message must be non-empty if specified"));
        else if (shown.find_first_of("\n\r") != shown.npos)
            field_errors_.push_back(invalid_value(at + ".message", json::value(message),
                                                  "message must not contain line breaks"));
        static const std::vector<std::string_view> kReasons = {"Forbidden", "Invalid",
                                                               "RequestEntityTooLarge"};
        const std::string_view reason = string_at(validation, "reason");
        if (!reason.empty() && std::ranges::find(kReasons, reason) == kReasons.end())
            field_errors_.push_back(not_supported(at + ".reason", reason, kReasons));
    }

    void check_annotations(const std::vector<const json::object*>& all) {
        const std::string field = "spec.auditAnnotations";
        if (all.size() > kMostAuditAnnotations)
            field_errors_.push_back(invalid_value(
                field, spec_.at("auditAnnotations"),
                fmt::format("must not have more than {} auditAnnotations", kMostAuditAnnotations)));
        std::set<std::string_view> keys;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const std::string at = fmt::format("{}[{}]", field, i);
            const std::string_view key = string_at(*all[i], "key");
            const std::string whole = fmt::format("{}/{}", name_, key);
            if (std::string problem = kube::label_key_problem(whole); !problem.empty())
                field_errors_.push_back(invalid_value(at + ".key", json::value(whole), problem));
            check_annotation(string_at(*all[i], "valueExpression"), at + ".valueExpression");
            if (!keys.insert(key).second)
                field_errors_.push_back(duplicate(at + ".key", json::value(key)));
        }
    }
    void check_annotation(std::string_view source, const std::string& field) {
        const std::string_view text = trimmed(source, kTextBlanks);
        if (text.empty())
            field_errors_.push_back(required(field, "valueExpression is not specified"));
        else if (text.size() > kLongestAuditExpression)
            field_errors_.push_back(required(
                field, fmt::format("must not exceed {} bytes in length", kLongestAuditExpression)));
        else
            refuse_expression(compile_annotation(source, params_, variables_), field,
                              field_errors_);
    }

    std::string name_;
    const json::object& spec_;
    FieldErrors& field_errors_;
    bool params_;
    PolicyVariables variables_;
};

void validate_admission_policy(const json::object& object, FieldErrors& field_errors) {
    PolicyCheck(object, field_errors).run();
}

void apply_binding_defaults(json::object& object) {
    if (json::object* match = object_at(ensure_object(object, "spec"), "matchResources"))
        default_match_resources(*match);
}

void check_param_ref(const json::object& ref, FieldErrors& field_errors) {
    const std::string at = "spec.paramRef";
    const std::string_view name = string_at(ref, "name");
    const json::object* selector = object_at(ref, "selector");
    if (!name.empty() && selector != nullptr)
        for (const char* key : {".name", ".selector"})
            field_errors.push_back(
                forbidden_field(at + key, "name and selector are mutually exclusive"));
    if (const auto read = label_selector_of(selector); !read)
        field_errors.push_back(
            invalid_value(at + ".selector", json::value(*selector), read.error().message()));
    if (name.empty() && selector == nullptr)
        field_errors.push_back(required(at, "one of name or selector must be specified"));
    const std::string_view action = string_at(ref, "parameterNotFoundAction");
    if (action.empty())
        field_errors.push_back(required(at + ".parameterNotFoundAction"));
    else if (action != "Deny" && action != "Allow")
        field_errors.push_back(
            not_supported(at + ".parameterNotFoundAction", action, {"Deny", "Allow"}));
}

void check_validation_actions(const json::object& spec, FieldErrors& field_errors) {
    static const std::vector<std::string_view> kActions = {"Audit", "Deny", "Warn"};
    const std::string at = "spec.validationActions";
    const std::vector<std::string> actions = strings_at(spec, "validationActions");
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < actions.size(); ++i) {
        const std::string field = fmt::format("{}[{}]", at, i);
        if (std::ranges::find(kActions, actions[i]) == kActions.end())
            field_errors.push_back(not_supported(field, actions[i], kActions));
        if (!seen.insert(actions[i]).second)
            field_errors.push_back(duplicate(field, json::value(actions[i])));
    }
    if (seen.contains("Deny") && seen.contains("Warn"))
        field_errors.push_back(invalid_value(
            at, spec.at("validationActions"),
            "must not contain both Deny and Warn (repeating the same validation "
            "failure information in the API response and headers serves no purpose)"));
    if (seen.empty())
        field_errors.push_back(required(at, "at least one validation action is required"));
}

void validate_policy_binding(const json::object& object, FieldErrors& field_errors) {
    const json::object& spec = child(object, "spec");
    const std::string policy(string_at(spec, "policyName"));
    if (policy.empty())
        field_errors.push_back(required("spec.policyName"));
    else if (!kube::is_dns1123_subdomain(policy))
        field_errors.push_back(
            invalid_value("spec.policyName", json::value(policy), kDnsSubdomainMessage));
    if (const json::object* ref = object_at(spec, "paramRef")) check_param_ref(*ref, field_errors);
    if (const json::object* match = object_at(spec, "matchResources"))
        check_match_resources(*match, "spec.matchResources", field_errors);
    check_validation_actions(spec, field_errors);
}

}  // namespace

Strategy policy_strategy() {
    return {.apply_defaults = apply_policy_defaults,
            .prepare_create = start_status,
            .validate = validate_admission_policy};
}

Strategy policy_binding_strategy() {
    return {.apply_defaults = apply_binding_defaults, .validate = validate_policy_binding};
}

}  // namespace muster::apiserver
