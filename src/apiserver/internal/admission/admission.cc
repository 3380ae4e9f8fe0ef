#include "apiserver/internal/admission/admission.h"

#include <utility>

#include "apiserver/internal/admission/admission_review.h"
#include "apiserver/internal/admission/evaluate_beside.h"
#include "apiserver/internal/conversions/webhook_versions.h"
#include "apiserver/internal/expressions/weights.h"
#include "apiserver/internal/webhooks/webhook_call.h"
#include "apiserver/objects/json_access.h"
#include "base/log.h"
#include "kube/patch/patch.h"
#include "kube/values/document.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

constexpr const char* kMutating = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
constexpr const char* kValidating = "validatingwebhookconfigurations.admissionregistration.k8s.io";

/// Whatever its failurePolicy says.
StatusError inapplicable(const Webhook& webhook, std::string_view why) {
    return internal_error(
        fmt::format("Internal error occurred: the patch of webhook \"{}\" can't be applied: {}",
                    webhook.name, why));
}

}  // namespace

Admission::Admission(ServerState& state)
    : state_(state),
      policies_(state),
      mutating_(state, kMutating, read_webhooks),
      validating_(state, kValidating, read_webhooks) {}

bool Admission::in_use() const {
    return !mutating_.is_empty() || !validating_.is_empty() || policies_.in_use();
}

std::optional<AdmissionSubject> Admission::subject_of(Operation operation, const Target& target,
                                                      const WriteQuery& query) const {
    if (!in_use()) return std::nullopt;
    return AdmissionSubject{operation, target, query.requester, query.dry_run};
}

StatusResult<void> Admission::failed(const Webhook& webhook, std::string_view why) const {
    if (webhook.ignores_failure) {
        log::warning("an admission webhook failed and is ignored, as its failurePolicy says",
                     {{"webhook", webhook.name}, {"error", std::string(why)}});
        return {};
    }
    return internal_error(fmt::format("Internal error occurred: failed calling webhook \"{}\": {}",
                                      webhook.name, why));
}

std::optional<Admission::Wanted> Admission::wanted(const Configurations::Ptr& configuration,
                                                   const Webhook& webhook,
                                                   const AdmissionSubject& subject,
                                                   const SubjectToMatch& to_match) const {
    const auto as = selected_as(webhook.writes, to_match.write);
    if (!as) return std::nullopt;
    return Wanted{configuration, &webhook, seen_as(state_.registry, subject, *as)};
}

std::vector<Admission::Wanted> Admission::wanted_by(const Configurations& configurations,
                                                    const AdmissionSubject& subject,
                                                    const json::value* before,
                                                    const json::value* after) const {
    std::vector<Wanted> all;
    if (configurations.is_empty() || is_exempt(subject)) return all;
    const SubjectToMatch subject_to_match(state_, subject, before, after);
    configurations.for_each([&](const Configurations::Ptr& webhooks) {
        for (const Webhook& webhook : *webhooks)
            if (auto one = wanted(webhooks, webhook, subject, subject_to_match))
                all.push_back(*std::move(one));
    });
    return all;
}

Task<StatusResult<bool>> Admission::is_asked(const Webhook& webhook,
                                             const AdmissionSubject& subject,
                                             const ReviewQuestion& question) {
    if (webhook.conditions.empty()) co_return true;
    const WriteInQuestion write = write_in(question);
    const auto evaluate = [&](cel::Authorizer& authorizer, std::uint64_t at_once) {
        AdmissionEvaluator evaluator(write, nullptr, authorizer, at_once);
        ConditionVerdict said = evaluate_conditions(webhook.conditions, evaluator);
        return Attempt<ConditionVerdict>{std::move(said), evaluator.is_unfinished()};
    };
    const ConditionVerdict said = co_await evaluate_beside(state_, question.user, evaluate);
    if (said.error.empty()) co_return said.matches;
    if (webhook.ignores_failure) co_return false;
    co_return forbidden(subject.target.type(), question.name, said.error);
}

Task<StatusResult<std::optional<json::value>>> Admission::ask(
    const Wanted& wanted, const AdmissionSubject& subject, const json::value* before,
    const json::value* after, bool may_patch, std::vector<std::string>& warnings) {
    const Webhook& webhook = *wanted.webhook;
    CO_TRY(const ConvertedObjects converted,
           co_await objects_seen_as(state_, subject, wanted.seen_as, before, after));
    const SeenWrite seen(subject, *wanted.seen_as, converted, before, after);
    ReviewQuestion question = seen.question();
    CO_TRY(const bool asked, co_await is_asked(webhook, subject, question));
    if (!asked) co_return std::optional<json::value>();
    if (subject.dry_run && !webhook.allows_dry_run)
        co_return bad_request(
            fmt::format("admission webhook \"{}\" does not support dry run", webhook.name));
    question.uid = state_.rng.uuid();
    Result<std::string> answer =
        co_await call_webhook(state_, webhook.endpoint,
                              review_text(question, webhook.review_version), webhook.time_limit);
    if (!answer) answer = Error(answer.error()).prefix("failed to call webhook");
    Result<ReviewVerdict> verdict =
        answer ? read_review(*answer, webhook.name, question, webhook.review_version, may_patch)
               : Result<ReviewVerdict>(std::move(answer.error()));
    if (!verdict) {
        CO_TRY_VOID(failed(webhook, verdict.error().message()));
        co_return std::optional<json::value>();
    }
    for (std::string& warning : verdict->warnings) warnings.push_back(std::move(warning));
    if (verdict->denial) co_return *std::move(verdict->denial);
    if (verdict->patch_is_no_json) co_return inapplicable(webhook, "it is not JSON");
    co_return std::move(verdict->patch);
}

Task<Admission::Mutators> Admission::mutators_of(const AdmissionSubject& subject,
                                                 const json::value* before,
                                                 const json::value& after) {
    co_await mutating_.catch_up();
    Mutators mutators;
    if (wanted_by(mutating_, subject, before, &after).empty()) co_return mutators;
    mutating_.for_each([&](const Configurations::Ptr& webhooks) {
        for (const Webhook& webhook : *webhooks)
            mutators.candidates_.push_back({webhooks, &webhook, std::nullopt});
    });
    co_return mutators;
}

Task<StatusResult<bool>> Admission::let_change(const Wanted& wanted,
                                               const AdmissionSubject& subject,
                                               const json::value* before, DecodedObject& object,
                                               std::vector<std::string>& warnings) {
    CO_TRY(const std::optional<json::value> patch,
           co_await ask(wanted, subject, before, &object.object.value(), true, warnings));
    if (!patch) co_return false;
    const DefPtr def = subject.target.def;
    const DefPtr seen_as = wanted.seen_as;
    CO_TRY(const kube::Document seen,
           co_await convert(state_, def, seen_as, object.object.value()));
    auto patched = kube::apply_json_patch(seen.value(), *patch);
    if (!patched || !patched->is_object())
        co_return inapplicable(*wanted.webhook,
                               patched ? "an object becomes none" : patched.error().message());
    if (kube::equal(*patched, seen.value())) co_return false;
    CO_TRY(kube::Document back, co_await convert(state_, seen_as, def, *patched));
    CO_TRY(object, co_await compute_beside(state_.options.side_thread, "decode a changed object",
                                           schema_weight(*def, subject.requester.body_bytes),
                                           [&def, &back]() -> StatusResult<DecodedObject> {
                                               TRY(DecodedObject decoded,
                                                   decode_object(*def, std::move(back),
                                                                 kube::FieldValidation::kIgnore));
                                               set_defaults(*def, decoded);
                                               return decoded;
                                           }));
    co_return true;
}

Task<StatusResult<bool>> Admission::mutate(Mutators& mutators, const AdmissionSubject& subject,
                                           const json::value* before, DecodedObject& object,
                                           std::vector<std::string>& warnings) {
    const bool again = std::exchange(mutators.again_, true);
    const std::size_t changes = mutators.changes_;
    for (Mutators::Candidate& candidate : mutators.candidates_) {
        const Webhook& webhook = *candidate.webhook;
        if (again &&
            (!webhook.reinvoked || candidate.seen.value_or(mutators.changes_) == mutators.changes_))
            continue;
        const SubjectToMatch to_match(state_, subject, before, &object.object.value());
        const auto asked = wanted(candidate.configuration, webhook, subject, to_match);
        if (!asked) continue;
        CO_TRY(const bool changed, co_await let_change(*asked, subject, before, object, warnings));
        if (changed) ++mutators.changes_;
        candidate.seen = mutators.changes_;
    }
    co_return mutators.changes_ != changes;
}

Task<StatusResult<void>> Admission::validate(const AdmissionSubject& subject,
                                             const json::value* before, const json::value* after,
                                             std::vector<std::string>& warnings) {
    CO_TRY_VOID(co_await policies_.validate(subject, before, after, warnings));
    co_await validating_.catch_up();
    const std::vector<Wanted> wanted = wanted_by(validating_, subject, before, after);
    for (const Wanted& one : wanted)
        CO_TRY_VOID(co_await ask(one, subject, before, after, false, warnings));
    co_return StatusResult<void>();
}

}  // namespace muster::apiserver
