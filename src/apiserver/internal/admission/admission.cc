#include "apiserver/internal/admission/admission.h"

#include "apiserver/internal/admission/admission_review.h"
#include "apiserver/internal/admission/service_route.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/text_fields.h"
#include "apiserver/resources/version_conversion.h"
#include "base/log.h"
#include "kube/patch/patch.h"
#include "kube/values/document.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

constexpr const char* kRegistrationGroup = "admissionregistration.k8s.io";
const std::string kMutating = "mutatingwebhookconfigurations.admissionregistration.k8s.io";
const std::string kValidating = "validatingwebhookconfigurations.admissionregistration.k8s.io";

const json::object* object_of(const json::value* value) {
    return value == nullptr ? nullptr : value->if_object();
}

/// Null stays null.
std::optional<kube::Document> shown(const ResourceDef& from, const ResourceDef& to,
                                    const json::value* object) {
    if (object == nullptr) return std::nullopt;
    return converted(from, to, *object);
}

/// The user as reported to webhooks; this process has a name for them, too.
User asking(const Requester& requester) {
    if (requester.user != nullptr) return *requester.user;
    return {.name = "system:muster", .uid = {}, .groups = {"system:masters"}};
}

const json::value* pointer_to(const std::optional<kube::Document>& document) {
    return document ? &document->value() : nullptr;
}

}  // namespace

bool Admission::in_use() const {
    return !state_.cache.objects(kMutating).empty() || !state_.cache.objects(kValidating).empty();
}

StatusResult<void> Admission::failed(const Webhook& webhook, std::string_view why) const {
    if (webhook.ignores_failure) {
        log::warning("an admission webhook failed and is ignored, as its failurePolicy says",
                     {{"webhook", webhook.name}, {"error", std::string(why)}});
        return {};
    }
    return internal_error(
        fmt::format("Internal error occurred: failed calling webhook \"{}\": failed to call "
                    "webhook: {}",
                    webhook.name, why));
}

std::shared_ptr<const std::vector<Webhook>> Admission::webhooks_of(
    const std::string& configurations, const NamespacedName& key, const CachedObject& cached) {
    Read& read = read_[{configurations, key}];
    if (read.revision != cached.revision)
        read = {cached.revision, std::make_shared<const std::vector<Webhook>>(
                                     read_webhooks(cached.tree()->get_object()))};
    return read.webhooks;
}

std::vector<Admission::Wanted> Admission::wanted_by(const std::string& configurations,
                                                    const AdmissionSubject& subject,
                                                    const json::value* before,
                                                    const json::value* after) {
    std::vector<Wanted> wanted;
    const WatchCache::Objects& objects = state_.cache.objects(configurations);
    if (objects.empty() || subject.target.type().group == kRegistrationGroup) return wanted;
    const kube::ResourceType& type = subject.target.type();
    WriteToMatch write{.operation = subject.operation,
                       .type = type,
                       .subresource = subject.target.subresource,
                       .served_as = {},
                       .before = object_of(before),
                       .after = object_of(after),
                       .namespace_labels = nullptr};
    for (const DefPtr& def : state_.registry.served_as(*subject.target.def))
        write.served_as.push_back(def->type);
    static const json::object kNoLabels;
    const json::object* space = nullptr;
    kube::ObjectPtr held;
    if (type.namespaced) {
        const CachedObject* found = state_.cache.find("namespaces", "", subject.target.namespace_);
        if (found != nullptr) held = found->tree();
        space = found == nullptr ? &kNoLabels : &held->get_object();
    } else if (subject.target.def->storage_key() == "namespaces") {
        space = object_of(after == nullptr ? before : after);
    }
    if (space != nullptr) {
        const json::object* labels = object_at(metadata_of(*space), "labels");
        write.namespace_labels = labels == nullptr ? &kNoLabels : labels;
    }
    for (const auto& [key, cached] : objects) {
        const auto webhooks = webhooks_of(configurations, key, cached);
        for (const Webhook& webhook : *webhooks)
            if (const auto as = wanted_as(webhook, write))
                wanted.push_back({webhooks, &webhook,
                                  *as == type
                                      ? subject.target.def
                                      : state_.registry.find(as->api_version(), as->plural)});
    }
    return wanted;
}

Result<WebhookEndpoint> Admission::reachable(WebhookEndpoint endpoint) {
    if (!endpoint.service) return endpoint;
    const auto& [space, name] = *endpoint.service;
    const CachedObject* service = state_.cache.find("services", space, name);
    if (service == nullptr)
        return Error(Code::kNotFound, fmt::format("service \"{}\" not found", name));
    const kube::ObjectPtr held = service->tree();
    // A namespace may have thousands of pods: only selected ones are worth a tree.
    std::vector<kube::ObjectPtr> pods;
    const auto [first, last] = state_.cache.range("pods", space);
    for (auto it = first; it != last; ++it)
        if (selects(held->get_object(),
                    value_at_path(it->second.object->text(), "metadata.labels")))
            pods.push_back(it->second.tree());
    TRY(std::vector<ServicePod> behind, pods_behind(held->get_object(), endpoint.port, pods));
    ServicePod& one = behind[state_.rng.below(behind.size())];
    endpoint.pod = PodPort{space, std::move(one.name), one.port};
    return endpoint;
}

Task<StatusResult<std::optional<json::value>>> Admission::ask(
    const Wanted& wanted, const AdmissionSubject& subject, const json::value* before,
    const json::value* after, bool may_patch, std::vector<std::string>& warnings) {
    const Webhook& webhook = *wanted.webhook;
    if (subject.dry_run && !webhook.allows_dry_run)
        co_return bad_request(
            fmt::format("admission webhook \"{}\" does not support dry run", webhook.name));
    const Target& target = subject.target;
    const auto old_object = shown(*target.def, *wanted.seen_as, before);
    const auto object = shown(*target.def, *wanted.seen_as, after);
    std::string name = target.name;
    if (name.empty() && after != nullptr) name = name_of(after->get_object());
    const ReviewQuestion question{.uid = state_.rng.uuid(),
                                  .operation = subject.operation,
                                  .type = wanted.seen_as->type,
                                  .requested = target.type(),
                                  .subresource = target.subresource,
                                  .namespace_ = target.namespace_,
                                  .name = std::move(name),
                                  .user = asking(subject.requester),
                                  .dry_run = subject.dry_run,
                                  .object = pointer_to(object),
                                  .before = pointer_to(old_object)};
    Result<std::string> answer = Error(Code::kUnsupported, "this server does not call webhooks");
    auto endpoint = reachable(webhook.endpoint);
    if (!endpoint)
        answer = std::move(endpoint.error());
    else if (state_.webhooks != nullptr)
        answer = co_await state_.webhooks->post(*std::move(endpoint),
                                                review_text(question, webhook.review_version),
                                                webhook.time_limit);
    Result<ReviewVerdict> verdict =
        answer ? read_review(*answer, webhook.name, question.uid, may_patch)
               : Result<ReviewVerdict>(std::move(answer.error()));
    if (!verdict) {
        CO_TRY_VOID(failed(webhook, verdict.error().message()));
        co_return std::optional<json::value>();
    }
    for (std::string& warning : verdict->warnings) warnings.push_back(std::move(warning));
    if (verdict->denial) co_return *std::move(verdict->denial);
    co_return std::move(verdict->patch);
}

Task<StatusResult<std::optional<kube::Document>>> Admission::mutate(
    const AdmissionSubject& subject, const json::value* before, const json::value& after,
    std::vector<std::string>& warnings) {
    const std::vector<Wanted> wanted = wanted_by(kMutating, subject, before, &after);
    if (wanted.empty()) co_return std::optional<kube::Document>();
    json::value object(after);
    const ResourceDef& def = *subject.target.def;
    std::size_t changes = 0;
    std::vector<std::size_t> seen(wanted.size());
    // A webhook with the reinvocationPolicy IfNeeded is called once more if others changed the
    // object after it.
    for (const bool again : {false, true}) {
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const Webhook& webhook = *wanted[i].webhook;
            if (again && (!webhook.reinvoked || seen[i] == changes)) continue;
            CO_TRY(const std::optional<json::value> patch,
                   co_await ask(wanted[i], subject, before, &object, true, warnings));
            if (patch) {
                const ResourceDef& seen_as = *wanted[i].seen_as;
                const kube::Document seen_object = converted(def, seen_as, object);
                auto patched = kube::apply_json_patch(seen_object.value(), *patch);
                if (!patched || !patched->is_object()) {
                    CO_TRY_VOID(failed(webhook, fmt::format("its patch can't be applied: {}",
                                                            patched ? "an object becomes none"
                                                                    : patched.error().message())));
                } else if (!kube::equal(*patched, seen_object.value())) {
                    object = converted(seen_as, def, *patched).value();
                    ++changes;
                }
            }
            seen[i] = changes;
        }
    }
    if (changes == 0) co_return std::optional<kube::Document>();
    co_return std::optional<kube::Document>(kube::Document(object));
}

Task<StatusResult<void>> Admission::validate(const AdmissionSubject& subject,
                                             const json::value* before, const json::value* after,
                                             std::vector<std::string>& warnings) {
    const std::vector<Wanted> wanted = wanted_by(kValidating, subject, before, after);
    for (const Wanted& one : wanted)
        CO_TRY_VOID(co_await ask(one, subject, before, after, false, warnings));
    co_return StatusResult<void>();
}

}  // namespace muster::apiserver
