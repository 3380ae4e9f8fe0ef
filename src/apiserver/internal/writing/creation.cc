#include "apiserver/internal/writing/creation.h"

#include "apiserver/internal/writing/limit_checks.h"
#include "apiserver/internal/writing/metadata_rules.h"
#include "apiserver/internal/writing/pod_account.h"
#include "apiserver/internal/writing/pod_admission.h"
#include "apiserver/internal/writing/stored_form.h"
#include "apiserver/internal/writing/update_rules.h"
#include "apiserver/internal/writing/weights.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/text_fields.h"
#include "base/async/side_thread.h"
#include "kube/values/time.h"

namespace muster::apiserver {

namespace {

constexpr int kGeneratedNameAttempts = 8;
constexpr std::size_t kGeneratedPrefixBytes = 58;

StatusResult<void> check_namespace(const ServerState& state, const Target& target,
                                   std::string_view name) {
    if (target.type().namespaced) {
        const CachedObject* found = state.cache.find("namespaces", "", target.namespace_);
        if (found == nullptr) return not_found(kube::types::kNamespaces, target.namespace_);
        if (is_deleting(found->tree()->get_object())) {
            StatusError status_error = forbidden(
                target.type(), name,
                fmt::format("unable to create new content in namespace {} because it is being "
                            "terminated",
                            target.namespace_));
            status_error.error.with_causes(
                {{"NamespaceTerminating",
                  fmt::format("namespace {} is being terminated", target.namespace_),
                  "metadata.namespace"}});
            return status_error;
        }
    }
    if (target.def->custom) {
        const CachedObject* definition = state.cache.find(
            kube::types::kCustomResourceDefinitions.qualified(), "", target.def->storage_key());
        if (definition != nullptr && is_deleting(*definition->object))
            return forbidden(target.type(), name,
                             "create not allowed while custom resource definition is terminating");
    }
    return {};
}

/// Defaults, ownership and what the kind's rules and other objects set in a new object. Pure.
StatusResult<void> complete_new(const Target& target, DecodedObject& decoded,
                                const Ownership& ownership, const Surroundings& surroundings,
                                WallTime now) {
    const ResourceDef& def = *target.def;
    json::object& object = decoded.object.object();
    if (def.custom) {
        if (def.has_status && object.erase("status") > 0) decoded.well_formed = false;
        if (kube::apply_defaults(*def.schema, decoded.object.value())) decoded.well_formed = false;
    }
    if (def.strategy.apply_defaults != nullptr) def.strategy.apply_defaults(object);
    if (ownership.kind == Ownership::Kind::kWrite)
        track_creation(def, decoded.object.value(), ownership.manager);
    TRY_VOID(admit_pod(target, object, surroundings));
    if (def.strategy.prepare_create != nullptr) def.strategy.prepare_create(object, now);
    return {};
}

}  // namespace

Ownership ownership_of(const ServerState& state, const Target& target, const WriteQuery& query,
                       Ownership::Kind kind) {
    if (!state.options.manage_fields) return {};
    return {kind,
            {query.manager, target.type().api_version(), target.subresource,
             kube::format_time(state.clock.wall_now())}};
}

Task<StatusResult<void>> Creation::mutate(const AdmissionSubject& subject, DecodedObject& decoded) {
    const ResourceDef& def = *subject.target.def;
    json::object& object = decoded.object.object();
    // They see it as it will be, except for fields that only the server can set.
    if (subject.target.type().namespaced)
        ensure_object(object, "metadata")["namespace"] = subject.target.namespace_;
    if (def.custom && kube::apply_defaults(*def.schema, decoded.object.value()))
        decoded.well_formed = false;
    if (def.strategy.apply_defaults != nullptr) def.strategy.apply_defaults(object);
    std::vector<std::string> warnings = std::move(decoded.warnings);
    CO_TRY(std::optional<kube::Document> mutated,
           co_await admission_.mutate(subject, nullptr, decoded.object.value(), warnings));
    if (mutated) {
        CO_TRY(decoded, co_await compute_beside(
                            state_.options.side_thread, "decode a changed object",
                            schema_weight(def, subject.requester.body_bytes), [&def, &mutated] {
                                return decode_object(def, *std::move(mutated),
                                                     kube::FieldValidation::kIgnore);
                            }));
    }
    decoded.warnings = std::move(warnings);
    co_return StatusResult<void>();
}

StatusResult<void> Creation::stamp(const Target& target, DecodedObject& decoded) {
    const ResourceDef& def = *target.def;
    json::object& object = decoded.object.object();
    json::object& meta = ensure_object(object, "metadata");
    if (!string_at(meta, "resourceVersion").empty())
        return internal_error("resourceVersion should not be set on objects to be created");
    for (const char* key :
         {"resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"})
        meta.erase(key);
    if (target.type().namespaced)
        meta["namespace"] = target.namespace_;
    else
        meta.erase("namespace");
    meta["uid"] = state_.rng.uuid();
    meta["creationTimestamp"] = kube::format_time(state_.clock.wall_now());
    if (def.tracks_generation) meta["generation"] = 1;
    if (!def.storage_version && def.conversion == nullptr && def.webhook_conversion == nullptr)
        object["apiVersion"] = def.storage_api_version;
    return {};
}

Task<StatusResult<ServiceAddresses::Claim>> Creation::prepare(const Target& target,
                                                              DecodedObject& decoded,
                                                              const WriteQuery& query,
                                                              Ownership owner,
                                                              const Surroundings& surroundings) {
    CO_TRY_VOID(stamp(target, decoded));
    CO_TRY_VOID(co_await compute_beside(
        state_.options.side_thread, "complete a new object", query.requester.body_bytes,
        [&target, &decoded, &surroundings, owner = std::move(owner),
         now = state_.clock.wall_now()] {
            return complete_new(target, decoded, owner, surroundings, now);
        }));
    json::object& object = decoded.object.object();
    ServiceAddresses::Claim address = target.def->storage_key() == "services"
                                          ? state_.addresses.assign(object, decoded.field_errors)
                                          : ServiceAddresses::Claim();
    CO_TRY_VOID(co_await give_account_to(target, object, query.requester.body_bytes));
    co_return std::move(address);
}

Task<StatusResult<void>> Creation::give_account_to(Target target, json::object& pod,
                                                   std::size_t bytes) {
    const ApiServerOptions& options = state_.options;
    const bool needed = options.cluster_controllers || options.pods_need_accounts;
    if (target.def->storage_key() != "pods" || !needed || options.signing_key == nullptr ||
        options.root_ca_pem.empty())
        co_return StatusResult<void>();
    const kube::ResourceType& accounts = kube::types::kServiceAccounts;
    const std::string& space = target.namespace_;
    const std::string name = account_of(pod);
    if (options.cluster_controllers && name == "default" &&
        state_.cache.find(accounts.plural, space, name) == nullptr) {
        // Every namespace has it; this one is too new, or someone has just deleted it.
        Target missing;
        missing.def = state_.registry.find(accounts.api_version(), accounts.plural);
        missing.namespace_ = space;
        const WriteQuery query;
        const Ownership owner = ownership_of(state_, missing, query, Ownership::Kind::kWrite);
        CO_TRY(DecodedObject account,
               decode_object(*missing.def,
                             std::make_shared<const json::value>(
                                 json::object{{"metadata", json::object{{"name", name}}}}),
                             query.field_validation));
        const auto made = co_await insert(std::move(missing), std::move(account), query, owner);
        if (!made && made.error().error.code() != Code::kAlreadyExists) co_return made.error();
    }
    const CachedObject* account = state_.cache.find(accounts.plural, space, name);
    if (account == nullptr)
        co_return forbidden(
            target.type(), name_of(pod),
            fmt::format("error looking up service account {}/{}: serviceaccount \"{}\" not found",
                        space, name, name));
    co_await compute_beside(state_.options.side_thread, "give a pod its account", bytes,
                            [&pod, held = account->tree(), suffix = random_suffix(state_.rng)] {
                                give_account(pod, held->get_object(), suffix);
                                return true;
                            });
    co_return StatusResult<void>();
}

Task<StatusResult<void>> Creation::check_complete(const Target& target,
                                                  const DecodedObject& decoded,
                                                  const Surroundings& surroundings,
                                                  const Requester& requester) {
    CO_TRY_VOID(co_await compute_beside(
        state_.options.side_thread, "check a new object",
        check_weight(*target.def, requester.body_bytes),
        [&target, &decoded, &surroundings]() -> StatusResult<void> {
            TRY_VOID(check_size(decoded.object.value()));
            TRY_VOID(validate_new(*target.def, decoded));
            return check_limits(target, decoded.object.value().get_object(), surroundings);
        }));
    const json::object& object = decoded.object.value().get_object();
    CO_TRY_VOID(check_default_class(state_, target.type(), object));
    if (requester.admit) CO_TRY_VOID(requester.admit(nullptr, object));
    co_return StatusResult<void>();
}

Task<StatusResult<WriteOutcome>> Creation::insert(Target target, DecodedObject decoded,
                                                  WriteQuery query, Ownership ownership) {
    const std::string_view sent_namespace = namespace_of(decoded.object.object());
    if (target.type().namespaced && !sent_namespace.empty() && sent_namespace != target.namespace_)
        co_return bad_request(
            "the namespace of the provided object does not match the namespace sent on the "
            "request");
    CO_TRY_VOID(check_namespace(state_, target, name_of(decoded.object.object())));
    const auto subject = admission_.subject_of(Operation::kCreate, target, query);
    if (subject) CO_TRY_VOID(co_await mutate(*subject, decoded));
    const Surroundings surroundings = surroundings_of(state_, target, decoded.object.object());
    CO_TRY(const ServiceAddresses::Claim until_committed,
           co_await prepare(target, decoded, query, std::move(ownership), surroundings));
    json::object& object = decoded.object.object();
    json::object& meta = object["metadata"].get_object();
    const std::string prefix(string_at(meta, "generateName").substr(0, kGeneratedPrefixBytes));
    const bool generated = string_at(meta, "name").empty() && !prefix.empty();
    for (int attempt = 1;; ++attempt) {
        if (generated) meta["name"] = prefix + random_suffix(state_.rng);
        if (attempt == 1)
            CO_TRY_VOID(co_await check_complete(target, decoded, surroundings, query.requester));
        const std::string name(string_at(meta, "name"));
        const bool last = !generated || attempt == kGeneratedNameAttempts;
        const std::string scope = target.type().namespaced ? target.namespace_ : std::string();
        if (const CachedObject* taken = state_.cache.find(target.def->storage_key(), scope, name)) {
            if (!last) continue;
            co_return is_deleting(*taken->object) ? exists_terminating(target.type(), name)
                                                  : already_exists(target.type(), name);
        }
        if (attempt == 1 && subject)
            CO_TRY_VOID(co_await admission_.validate(*subject, nullptr, &decoded.object.value(),
                                                     decoded.warnings));
        CO_TRY_VOID(check_namespace(state_, target, name));
        store::StoreKey key{target.def->storage_key(), scope, name};
        CO_TRY(const Quotas::Claim charged,
               state_.quotas.claim(target.type(), key, nullptr, object));
        WriteOutcome outcome{.created = true, .warnings = std::move(decoded.warnings)};
        if (query.dry_run) {
            outcome.object = store::ObjectText::of(std::move(decoded.object).share());
            co_return outcome;
        }
        // The value may be needed again only if the name was generated here.
        kube::Document committed =
            last ? std::move(decoded.object) : kube::Document(decoded.object.value());
        CO_TRY(committed, co_await to_be_stored(state_, target.def, std::move(committed)));
        // It may have begun to end while others were at work.
        CO_TRY_VOID(check_namespace(state_, target, name));
        Result<store::StoredObject> stored =
            co_await state_.store->create(std::move(key), with_revision(std::move(committed)));
        if (stored) {
            outcome.object = std::move(stored->object);
            co_return outcome;
        }
        if (stored.error().code() != Code::kAlreadyExists) co_return std::move(stored.error());
        if (last) co_return already_exists(target.type(), name);
        decoded.warnings = std::move(outcome.warnings);
    }
}

}  // namespace muster::apiserver
