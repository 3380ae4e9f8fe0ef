#include "apiserver/internal/writing/creation.h"

#include "apiserver/internal/expressions/weights.h"
#include "apiserver/internal/writing/limit_checks.h"
#include "apiserver/internal/writing/metadata_rules.h"
#include "apiserver/internal/writing/owner_views.h"
#include "apiserver/internal/writing/pod_admission.h"
#include "apiserver/internal/writing/stored_form.h"
#include "apiserver/internal/writing/update_rules.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/text_fields.h"
#include "base/async/side_thread.h"
#include "kube/values/equality.h"
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

StatusResult<void> check_sent_namespace(const Target& target, const json::object& object) {
    const std::string_view sent = namespace_of(object);
    if (!target.type().namespaced || sent.empty() || sent == target.namespace_) return {};
    return bad_request(
        "the namespace of the provided object does not match the namespace sent on the "
        "request");
}

/// What a client can't choose. Webhooks see the object without it.
void clear_system_fields(const Target& target, json::object& object) {
    json::object& meta = ensure_object(object, "metadata");
    for (const char* key : {"uid", "creationTimestamp", "deletionTimestamp",
                            "deletionGracePeriodSeconds", "selfLink"})
        meta.erase(key);
    if (target.type().namespaced)
        meta["namespace"] = target.namespace_;
    else
        meta.erase("namespace");
}

/// An object as its client meant it, and what the server gives it before webhooks see it. Pure.
StatusResult<void> complete_new(const Target& target, DecodedObject& decoded,
                                const Ownership& ownership, const Surroundings& surroundings,
                                std::string_view suffix) {
    clear_system_fields(target, decoded.object.object());
    set_defaults(*target.def, decoded);
    if (ownership.kind == Ownership::Kind::kWrite)
        track_creation(*target.def, decoded.object.value(), ownership.manager);
    admit_storage(target, decoded.object.object(), surroundings);
    return admit_pod(target, decoded.object.object(), surroundings, suffix);
}

/// What the kind's rules set in a new object after webhooks have seen it. Pure.
void prepare_new(const ResourceDef& def, DecodedObject& decoded, WallTime now) {
    json::object& object = decoded.object.object();
    if (def.custom && def.has_status && object.erase("status") > 0) {
        decoded.well_formed = false;
        set_defaults(def, decoded);
    }
    if (def.strategy.prepare_create != nullptr) def.strategy.prepare_create(object, now);
}

}  // namespace

Ownership ownership_of(const ServerState& state, const Target& target, const WriteQuery& query,
                       Ownership::Kind kind) {
    if (!state.options.manage_fields) return {};
    Ownership made{kind,
                   {query.manager, target.type().api_version(), target.subresource,
                    kube::format_time(state.clock.wall_now())}};
    if (target.def->webhook_conversion != nullptr)
        made.views =
            std::make_shared<OwnerViews>(state.registry.served_as(*target.def), target.subresource);
    return made;
}

Task<StatusResult<Surroundings>> Creation::look_around(const Target& target,
                                                       const json::object& object) {
    if (needs_default_account(state_, target, object))
        CO_TRY_VOID(co_await make_default_account(target.namespace_));
    co_return surroundings_of(state_, target, object);
}

Task<StatusResult<Surroundings>> Creation::complete(const Target& target, DecodedObject& decoded,
                                                    const Requester& requester, Ownership owner) {
    CO_TRY(Surroundings surroundings,
           co_await look_around(target, decoded.object.value().get_object()));
    CO_TRY_VOID(co_await compute_beside(
        state_.options.side_thread, "complete a new object", requester.body_bytes,
        [&target, &decoded, &surroundings, owner = std::move(owner),
         suffix = is_pod(target) ? random_suffix(state_.rng) : ""] {
            return complete_new(target, decoded, owner, surroundings, suffix);
        }));
    co_return surroundings;
}

Task<StatusResult<bool>> Creation::admit_again(const AdmissionSubject& subject,
                                               DecodedObject& decoded) {
    const Target& target = subject.target;
    if (!is_pod(target)) co_return false;
    CO_TRY(const Surroundings surroundings,
           co_await look_around(target, decoded.object.value().get_object()));
    co_return co_await compute_beside(
        state_.options.side_thread, "complete a changed object", subject.requester.body_bytes,
        [&target, &decoded, &surroundings,
         suffix = random_suffix(state_.rng)]() -> StatusResult<bool> {
            const kube::Document before(decoded.object.value());
            TRY_VOID(admit_pod(target, decoded.object.object(), surroundings, suffix));
            return !kube::equal(before.value(), decoded.object.value());
        });
}

Task<StatusResult<void>> Creation::mutate(const AdmissionSubject& subject, DecodedObject& decoded) {
    Admission::Mutators mutators =
        co_await admission_.mutators_of(subject, nullptr, decoded.object.value());
    if (mutators.is_empty()) co_return StatusResult<void>();
    std::vector<std::string> warnings = std::move(decoded.warnings);
    const json::value owners = owners_of(decoded.object.value());
    CO_TRY(const bool changed,
           co_await admission_.mutate(mutators, subject, nullptr, decoded, warnings));
    if (changed) {
        CO_TRY(const bool again, co_await admit_again(subject, decoded));
        if (again) mutators.note_change();
        CO_TRY_VOID(co_await admission_.mutate(mutators, subject, nullptr, decoded, warnings));
        if (state_.options.manage_fields) mend_owners(decoded.object.object(), owners, warnings);
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
    meta.erase("resourceVersion");
    clear_system_fields(target, object);
    meta["uid"] = state_.rng.uuid();
    meta["creationTimestamp"] = kube::format_time(state_.clock.wall_now());
    if (def.tracks_generation) meta["generation"] = 1;
    if (!def.storage_version && def.conversion == nullptr && def.webhook_conversion == nullptr)
        object["apiVersion"] = def.storage_api_version;
    return {};
}

Task<StatusResult<ServiceAddresses::Claim>> Creation::prepare(const Target& target,
                                                              DecodedObject& decoded,
                                                              std::size_t bytes) {
    CO_TRY_VOID(stamp(target, decoded));
    co_await compute_beside(state_.options.side_thread, "prepare a new object", bytes,
                            [&target, &decoded, now = state_.clock.wall_now()] {
                                prepare_new(*target.def, decoded, now);
                                return true;
                            });
    if (target.def->storage_key() != "services") co_return ServiceAddresses::Claim();
    co_return state_.addresses.assign(decoded.object.object(), decoded.field_errors);
}

Task<StatusResult<void>> Creation::make_default_account(std::string space) {
    const kube::ResourceType& accounts = kube::types::kServiceAccounts;
    Target missing;
    missing.def = state_.registry.find(accounts.api_version(), accounts.plural);
    missing.namespace_ = std::move(space);
    const WriteQuery query;
    Ownership owner = ownership_of(state_, missing, query, Ownership::Kind::kWrite);
    CO_TRY(DecodedObject account,
           decode_object(*missing.def,
                         std::make_shared<const json::value>(
                             json::object{{"metadata", json::object{{"name", "default"}}}}),
                         query.field_validation));
    const auto made =
        co_await insert(std::move(missing), std::move(account), query, std::move(owner));
    if (!made && made.error().error.code() != Code::kAlreadyExists) co_return made.error();
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
    CO_TRY_VOID(check_account(target, object, surroundings));
    CO_TRY_VOID(check_default_class(state_, target.type(), object));
    if (requester.admit) CO_TRY_VOID(requester.admit(nullptr, object));
    co_return StatusResult<void>();
}

Task<StatusResult<WriteOutcome>> Creation::insert(Target target, DecodedObject decoded,
                                                  WriteQuery query, Ownership ownership) {
    CO_TRY_VOID(check_sent_namespace(target, decoded.object.object()));
    CO_TRY_VOID(check_namespace(state_, target, name_of(decoded.object.object())));
    const auto subject = admission_.subject_of(Operation::kCreate, target, query);
    CO_TRY(Surroundings surroundings,
           co_await complete(target, decoded, query.requester, std::move(ownership)));
    if (subject) {
        CO_TRY_VOID(co_await mutate(*subject, decoded));
        // Webhooks take their time, and may have named others.
        surroundings = surroundings_of(state_, target, decoded.object.value().get_object());
    }
    CO_TRY(const ServiceAddresses::Claim until_committed,
           co_await prepare(target, decoded, query.requester.body_bytes));
    json::object& object = decoded.object.object();
    // Where it is may change with each member that is added to the object.
    const auto meta = [&object]() -> json::object& { return object.at("metadata").get_object(); };
    const std::string prefix(string_at(meta(), "generateName").substr(0, kGeneratedPrefixBytes));
    const bool generated = string_at(meta(), "name").empty() && !prefix.empty();
    for (int attempt = 1;; ++attempt) {
        if (generated) meta()["name"] = prefix + random_suffix(state_.rng);
        if (attempt == 1)
            CO_TRY_VOID(co_await check_complete(target, decoded, surroundings, query.requester));
        const std::string name(string_at(meta(), "name"));
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
               state_.quotas.claim(target.type(), key, nullptr, object, state_.clock.wall_now()));
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
