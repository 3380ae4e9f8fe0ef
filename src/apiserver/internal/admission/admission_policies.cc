#include "apiserver/internal/admission/admission_policies.h"

#include <algorithm>
#include <map>

#include "apiserver/internal/admission/evaluate_beside.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/label_selection.h"
#include "apiserver/resources/version_conversion.h"
#include "apiserver/watching/visit_in_turns.h"
#include "base/time/loop_watch.h"

namespace muster::apiserver {
namespace {

constexpr const char* kPolicies = "validatingadmissionpolicies.admissionregistration.k8s.io";
constexpr const char* kBindings = "validatingadmissionpolicybindings.admissionregistration.k8s.io";
constexpr const char* kFailureKey = "validation.policy.admission.k8s.io/validation_failure";

bool has_action(const PolicyBinding& binding, std::string_view action) {
    return std::ranges::find(binding.actions, action) != binding.actions.end();
}

Code code_of_reason(std::string_view reason) {
    if (reason == "Forbidden") return Code::kForbidden;
    if (reason == "RequestEntityTooLarge") return Code::kTooLarge;
    return Code::kInvalid;
}

/// "group/version, Kind=kind", as Go shows a kind.
std::string param_kind_text(const Policy::ParamKind& kind) {
    const bool core = kind.api_version.find('/') == std::string::npos;
    return fmt::format("{}{}, Kind={}", core ? "/" : "", kind.api_version, kind.kind);
}

}  // namespace

/// What all policies have said of one write.
class AdmissionPolicies::Report {
  public:
    Report(const AdmissionSubject& subject, const json::value* after,
           std::vector<std::string>& warnings)
        : subject_(subject), name_(name_in(subject, after)), warnings_(warnings) {}

    void misconfigured(const Policy& policy, const PolicyBinding* binding, std::string_view why) {
        if (policy.ignores_failure) return;
        deny(policy, binding,
             fmt::format("failed to configure {}: {}", binding ? "binding" : "policy", why), {});
    }
    void add(const Policy& policy, const PolicyBinding& binding, PolicyVerdict verdict) {
        for (PolicyVerdict::Denial& denial : verdict.denials) {
            if (has_action(binding, "Audit")) audit_failure(policy, binding, denial);
            if (has_action(binding, "Warn"))
                warnings_.push_back(
                    fmt::format("Validation failed for ValidatingAdmissionPolicy '{}' with binding "
                                "'{}': {}",
                                policy.name, binding.name, denial.message));
            if (has_action(binding, "Deny")) deny(policy, &binding, denial.message, denial.reason);
        }
        for (const std::string& failure : verdict.failed_annotations)
            deny(policy, &binding, failure, {});
        for (PolicyVerdict::Annotation& annotation : verdict.annotations) {
            std::vector<std::string>& values = annotations_[policy.name + "/" + annotation.key];
            if (std::ranges::find(values, annotation.value) == values.end())
                values.push_back(std::move(annotation.value));
        }
    }
    StatusResult<void> take() {
        for (const auto& [key, values] : annotations_) {
            std::string text;
            for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
            annotate(key, std::move(text));
        }
        if (denied_) return *std::move(denied_);
        return {};
    }

  private:
    /// The first one counts.
    void deny(const Policy& policy, const PolicyBinding* binding, std::string_view message,
              std::string_view reason) {
        if (denied_) return;
        const std::string by =
            binding ? fmt::format(" with binding '{}'", binding->name) : std::string();
        const std::string why = fmt::format("ValidatingAdmissionPolicy '{}'{} denied request: {}",
                                            policy.name, by, message);
        denied_ = forbidden(subject_.target.type(), name_, why);
        denied_->error = Error(code_of_reason(reason), std::string(denied_->error.message()));
        denied_->error.with_causes({{"", why, ""}});
    }
    void audit_failure(const Policy& policy, const PolicyBinding& binding,
                       const PolicyVerdict::Denial& denial) {
        annotate(kFailureKey, json::serialize(json::array{json::object{
                                  {"message", denial.message},
                                  {"policy", policy.name},
                                  {"binding", binding.name},
                                  {"expressionIndex", denial.validation},
                                  {"validationActions",
                                   json::array(binding.actions.begin(), binding.actions.end())}}}));
    }
    /// As upstream, what is said first stays.
    void annotate(const std::string& key, std::string value) {
        if (subject_.requester.audit != nullptr)
            subject_.requester.audit->emplace(key, std::move(value));
    }

    const AdmissionSubject& subject_;
    std::string name_;
    std::vector<std::string>& warnings_;
    std::map<std::string, std::vector<std::string>> annotations_;
    std::optional<StatusError> denied_;
};

AdmissionPolicies::AdmissionPolicies(ServerState& state)
    : state_(state),
      policies_(state, kPolicies, read_policy),
      bindings_(state, kBindings, read_policy_binding) {}

std::vector<AdmissionPolicies::Selected> AdmissionPolicies::selected_by(
    const SubjectToMatch& subject_to_match, const AdmissionSubject& subject) const {
    std::vector<Selected> all;
    policies_.for_each([&](const Policies::Ptr& policy) {
        const auto as = selected_as(policy->writes, subject_to_match.write);
        if (!as) return;
        Selected selected{policy, seen_as(state_.registry, subject, *as), {}};
        bindings_.for_each([&](const Bindings::Ptr& binding) {
            if (binding->policy == policy->name &&
                (!binding->writes || selected_as(*binding->writes, subject_to_match.write)))
                selected.bindings.push_back(binding);
        });
        if (!selected.bindings.empty()) all.push_back(std::move(selected));
    });
    return all;
}

Task<std::expected<AdmissionPolicies::Params, std::string>> AdmissionPolicies::params_of(
    const Policy& policy, const PolicyBinding& binding, std::string space) const {
    Params params;
    if (!policy.param_kind || !binding.params) {
        params.objects.push_back(nullptr);
        co_return params;
    }
    const PolicyBinding::ParamRef& ref = *binding.params;
    params.def = state_.registry.find_kind(policy.param_kind->api_version, policy.param_kind->kind);
    if (params.def == nullptr)
        co_return std::unexpected(
            fmt::format("paramKind kind `{}` not known", param_kind_text(*policy.param_kind)));
    std::string from;
    if (params.def->type.namespaced) {
        from = ref.namespace_.empty() ? std::move(space) : ref.namespace_;
        if (from.empty())
            co_return std::unexpected(
                "cannot use namespaced paramRef in policy binding that matches cluster-scoped "
                "resources");
    } else if (!ref.namespace_.empty()) {
        co_return std::unexpected(
            "paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
    }
    const std::string resource = params.def->storage_key();
    if (!ref.name.empty()) {
        if (const CachedObject* found = state_.cache.find(resource, from, ref.name))
            params.objects.push_back(found->object);
    } else {
        co_await visit_in_turns(state_.cache, resource, from, [&](const auto&, const auto& cached) {
            if (matches_labels(ref.selector, *cached.object))
                params.objects.push_back(cached.object);
            return true;
        });
    }
    if (params.objects.empty() && ref.needs_one)
        co_return std::unexpected(
            "no params found for policy binding with `Deny` parameterNotFoundAction");
    co_return params;
}

Task<StatusResult<void>> AdmissionPolicies::apply(const Selected& selected,
                                                  const AdmissionSubject& subject,
                                                  const json::value* before,
                                                  const json::value* after,
                                                  const kube::ObjectPtr& space, Report& report) {
    const Policy& policy = *selected.policy;
    if (policy.param_kind && state_.registry.find_kind(policy.param_kind->api_version,
                                                       policy.param_kind->kind) == nullptr) {
        report.misconfigured(policy, nullptr,
                             fmt::format("failed to find resource referenced by paramKind: '{}'",
                                         param_kind_text(*policy.param_kind)));
        co_return StatusResult<void>();
    }
    CO_TRY(const ConvertedObjects converted,
           co_await objects_seen_as(state_, subject, selected.seen_as, before, after));
    const SeenWrite seen(subject, *selected.seen_as, converted, before, after);
    const ReviewQuestion question = seen.question();
    WriteInQuestion write = write_in(question);
    write.space = space.get();
    for (const Bindings::Ptr& binding : selected.bindings) {
        const auto params = co_await params_of(policy, *binding, subject.target.namespace_);
        if (!params) {
            report.misconfigured(policy, binding.get(), params.error());
            continue;
        }
        for (const store::ObjectTextPtr& object : params->objects) {
            const kube::ObjectPtr param =
                object == nullptr ? nullptr : before_write(*params->def, object->tree());
            write.params = param.get();
            const auto evaluate = [&](cel::Authorizer& authorizer, std::uint64_t at_once) {
                PolicyVerdict verdict = evaluate_policy(policy, write, authorizer, at_once);
                const bool unfinished = verdict.unfinished;
                return Attempt<PolicyVerdict>{std::move(verdict), unfinished};
            };
            report.add(policy, *binding, co_await evaluate_beside(state_, question.user, evaluate));
            // Others choose how many parameters there are.
            if (turn_is_long()) co_await asio::post(state_.executor, asio::use_awaitable);
        }
    }
    co_return StatusResult<void>();
}

Task<StatusResult<void>> AdmissionPolicies::validate(const AdmissionSubject& subject,
                                                     const json::value* before,
                                                     const json::value* after,
                                                     std::vector<std::string>& warnings) {
    if (!in_use() || is_exempt(subject)) co_return StatusResult<void>();
    co_await policies_.catch_up();
    co_await bindings_.catch_up();
    const SubjectToMatch subject_to_match(state_, subject, before, after);
    Report report(subject, after, warnings);
    for (const Selected& selected : selected_by(subject_to_match, subject))
        CO_TRY_VOID(
            co_await apply(selected, subject, before, after, subject_to_match.space, report));
    co_return report.take();
}

}  // namespace muster::apiserver
