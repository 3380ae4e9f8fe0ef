#include "apiserver/internal/writing/writer.h"

#include <algorithm>
#include <limits>

#include "apiserver/internal/conversions/webhook_versions.h"
#include "apiserver/internal/expressions/schema_rules.h"
#include "apiserver/internal/writing/deletion_rules.h"
#include "apiserver/internal/writing/patching.h"
#include "apiserver/internal/writing/pod_account.h"
#include "apiserver/internal/writing/pod_admission.h"
#include "apiserver/internal/writing/server_side_apply.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/text_fields.h"
#include "kube/values/text_size.h"
#include "kube/values/time.h"

namespace muster::apiserver {

namespace {

constexpr int kGeneratedNameAttempts = 8;
constexpr int kConflictAttempts = 10;
constexpr std::size_t kGeneratedPrefixBytes = 58;

/// As much as a body may have: defaults, patches and owners of fields make no more of an object.
constexpr std::size_t kMostObjectBytes = std::size_t{3} * 1024 * 1024;
/// What is too large already may still be changed and deleted.
constexpr std::size_t kGrowthOfLargeObjects = 4096;

StatusError too_large() {
    return {Error(Code::kTooLarge,
                  "the object would be larger than 3 MiB, with its defaults and managedFields"),
            {},
            false,
            {}};
}

bool is_too_large(const json::value& object, std::size_t most) {
    return kube::text_size(object, most) > most;
}

/// What a comparison of so many bytes with the schema weighs on the loop: patterns may take longer
/// than their object is long.
std::size_t schema_weight(const ResourceDef& def, std::size_t bytes) {
    constexpr std::size_t kFewSteps = 500'000;  // some 20 ms at the worst
    return def.pattern_steps * bytes > kFewSteps ? std::max(bytes, kWorthSideThread) : bytes;
}

/// What a check weighs: so may rules, and to compile those of a definition or a policy does.
std::size_t weight_of(const ResourceDef& def, std::size_t bytes) {
    const bool costly = (def.rules != nullptr && def.rules->is_costly()) ||
                        def.type.group == "admissionregistration.k8s.io" ||
                        def.type.plural == kube::types::kCustomResourceDefinitions.plural;
    return schema_weight(def, costly ? std::max(bytes, kWorthSideThread) : bytes);
}

StatusResult<void> check_new(const ResourceDef& def, const DecodedObject& decoded) {
    if (is_too_large(decoded.object.value(), kMostObjectBytes)) return too_large();
    return validate_new(def, decoded);
}

/// The next state, unless it is too large.
StatusResult<NextState> decided(const Writer::Change& change, const json::value& current) {
    TRY(NextState next, change(current));
    if (next.kind != NextState::Kind::kReplace) return next;
    if (!is_too_large(next.object.value(), kMostObjectBytes)) return next;
    const std::size_t before = kube::text_size(current, std::numeric_limits<std::size_t>::max());
    const std::size_t most = std::max(kMostObjectBytes, before + kGrowthOfLargeObjects);
    if (is_too_large(next.object.value(), most)) return too_large();
    return next;
}

/// Whether what a rule has decided may be stored.
StatusResult<void> admit(const Requester& requester, const json::value& current,
                         const NextState& next) {
    if (next.kind != NextState::Kind::kReplace || !requester.admit) return {};
    return requester.admit(&current.get_object(), next.object.object());
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

/// Makes the committed object: the same value with the revision that it got.
store::Store::Make with_revision(kube::Document object) {
    return [object = std::move(object)](store::Revision revision) mutable {
        ensure_object(object.object(), "metadata")["resourceVersion"] = std::to_string(revision);
        return std::move(object).share();
    };
}

void prepend(std::vector<std::string>& warnings, std::vector<std::string> first) {
    warnings.insert(warnings.begin(), std::make_move_iterator(first.begin()),
                    std::make_move_iterator(first.end()));
}

}  // namespace

std::string Writer::random_suffix() {
    constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
    std::string suffix;
    for (int i = 0; i < 5; ++i) suffix += kAlphabet[state_.rng.below(kAlphabet.size())];
    return suffix;
}

std::optional<AdmissionSubject> Writer::subject_of(Operation operation, const Target& target,
                                                   const WriteQuery& query) const {
    if (!admission_.in_use()) return std::nullopt;
    return AdmissionSubject{operation, target, query.requester, query.dry_run, query.manager};
}

RewriteOptions Writer::updating(const Target& target, const WriteQuery& query) const {
    return {.dry_run = query.dry_run,
            .requester = query.requester,
            .subject = subject_of(Operation::kUpdate, target, query),
            .pure = true,
            .bytes = query.requester.body_bytes};
}

Task<StatusResult<void>> Writer::mutate_new(const AdmissionSubject& subject,
                                            DecodedObject& decoded) {
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

Task<StatusResult<void>> Writer::mutate_next(const AdmissionSubject& subject,
                                             const json::value& current, NextState& next,
                                             std::vector<std::string>& warnings) {
    if (next.kind != NextState::Kind::kReplace || subject.operation == Operation::kDelete)
        co_return StatusResult<void>();
    CO_TRY(std::optional<kube::Document> mutated,
           co_await admission_.mutate(subject, &current, next.object.value(), warnings));
    if (!mutated) co_return StatusResult<void>();
    const Target& target = subject.target;
    const Ownership owner =
        ownership(target, {.manager = subject.manager}, Ownership::Kind::kWrite);
    CO_TRY(next, co_await compute_beside(
                     state_.options.side_thread, "decide a changed object",
                     weight_of(*target.def, subject.requester.body_bytes),
                     [&target, &current, &mutated, &owner]() -> StatusResult<NextState> {
                         TRY(DecodedObject proposed, decode_object(*target.def, *std::move(mutated),
                                                                   kube::FieldValidation::kIgnore));
                         return decide_update(*target.def, current, std::move(proposed),
                                              target.subresource, WriteKind::kPatch, owner);
                     }));
    co_return admit(subject.requester, current, next);
}

StatusResult<void> Writer::check_namespace(const Target& target, std::string_view name) const {
    if (target.type().namespaced) {
        const CachedObject* found = state_.cache.find("namespaces", "", target.namespace_);
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
        const CachedObject* definition = state_.cache.find(
            kube::types::kCustomResourceDefinitions.qualified(), "", target.def->storage_key());
        if (definition != nullptr && is_deleting(*definition->object))
            return forbidden(target.type(), name,
                             "create not allowed while custom resource definition is terminating");
    }
    return {};
}

StatusResult<void> Writer::stamp(const Target& target, DecodedObject& decoded) {
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

Task<StatusResult<ServiceAddresses::Claim>> Writer::prepare(const Target& target,
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

Task<StatusResult<void>> Writer::give_account_to(Target target, json::object& pod,
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
        const auto made = co_await create(std::move(missing),
                                          std::make_shared<const json::value>(json::object{
                                              {"metadata", json::object{{"name", name}}}}),
                                          WriteQuery{});
        if (!made && made.error().error.code() != Code::kAlreadyExists) co_return made.error();
    }
    const CachedObject* account = state_.cache.find(accounts.plural, space, name);
    if (account == nullptr)
        co_return forbidden(
            target.type(), name_of(pod),
            fmt::format("error looking up service account {}/{}: serviceaccount \"{}\" not found",
                        space, name, name));
    co_await compute_beside(state_.options.side_thread, "give a pod its account", bytes,
                            [&pod, held = account->tree(), suffix = random_suffix()] {
                                give_account(pod, held->get_object(), suffix);
                                return true;
                            });
    co_return StatusResult<void>();
}

Task<StatusResult<WriteOutcome>> Writer::create(Target target, kube::ObjectPtr body,
                                                WriteQuery query) {
    CO_TRY(DecodedObject decoded,
           co_await compute_beside(state_.options.side_thread, "decode a new object",
                                   schema_weight(*target.def, query.requester.body_bytes),
                                   [def = target.def, body, validation = query.field_validation] {
                                       return decode_object(*def, body, validation);
                                   }));
    co_return co_await insert(std::move(target), std::move(decoded), std::move(query),
                              Ownership::Kind::kWrite);
}

Ownership Writer::ownership(const Target& target, const WriteQuery& query,
                            Ownership::Kind kind) const {
    if (!state_.options.manage_fields) return {};
    return {kind,
            {query.manager, target.type().api_version(), target.subresource,
             kube::format_time(state_.clock.wall_now())}};
}

Task<StatusResult<kube::Document>> Writer::to_be_stored(DefPtr def, kube::Document written) {
    const bool converted = def->webhook_conversion != nullptr;
    CO_TRY(kube::Document stored, co_await put_away(state_, std::move(def), std::move(written)));
    if (converted && is_too_large(stored.value(), kMostObjectBytes)) co_return too_large();
    co_return stored;
}

Task<StatusResult<WriteOutcome>> Writer::create(const kube::ResourceType& type,
                                                std::string namespace_, json::object object) {
    Target target;
    target.def = state_.registry.find(type.api_version(), type.plural);
    target.namespace_ = std::move(namespace_);
    return create(std::move(target), std::make_shared<const json::value>(std::move(object)),
                  WriteQuery{});
}

Task<StatusResult<void>> Writer::check_complete(const Target& target, const DecodedObject& decoded,
                                                const Surroundings& surroundings,
                                                const Requester& requester) {
    CO_TRY_VOID(co_await compute_beside(
        state_.options.side_thread, "check a new object",
        weight_of(*target.def, requester.body_bytes),
        [&target, &decoded, &surroundings]() -> StatusResult<void> {
            TRY_VOID(check_new(*target.def, decoded));
            return check_limits(target, decoded.object.value().get_object(), surroundings);
        }));
    const json::object& object = decoded.object.value().get_object();
    CO_TRY_VOID(check_default_class(state_, target.type(), object));
    if (requester.admit) CO_TRY_VOID(requester.admit(nullptr, object));
    co_return StatusResult<void>();
}

Task<StatusResult<WriteOutcome>> Writer::insert(Target target, DecodedObject decoded,
                                                WriteQuery query, Ownership::Kind ownership_kind) {
    const std::string_view sent_namespace = namespace_of(decoded.object.object());
    if (target.type().namespaced && !sent_namespace.empty() && sent_namespace != target.namespace_)
        co_return bad_request(
            "the namespace of the provided object does not match the namespace sent on the "
            "request");
    CO_TRY_VOID(check_namespace(target, name_of(decoded.object.object())));
    const auto subject = subject_of(Operation::kCreate, target, query);
    if (subject) CO_TRY_VOID(co_await mutate_new(*subject, decoded));
    const Surroundings surroundings = surroundings_of(state_, target, decoded.object.object());
    CO_TRY(const ServiceAddresses::Claim until_committed,
           co_await prepare(target, decoded, query, ownership(target, query, ownership_kind),
                            surroundings));
    json::object& object = decoded.object.object();
    json::object& meta = object["metadata"].get_object();
    const std::string prefix(string_at(meta, "generateName").substr(0, kGeneratedPrefixBytes));
    const bool generated = string_at(meta, "name").empty() && !prefix.empty();
    for (int attempt = 1;; ++attempt) {
        if (generated) meta["name"] = prefix + random_suffix();
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
        CO_TRY_VOID(check_namespace(target, name));
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
        CO_TRY(committed, co_await to_be_stored(target.def, std::move(committed)));
        // It may have begun to end while others were at work.
        CO_TRY_VOID(check_namespace(target, name));
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

StatusResult<Quotas::Claim> Writer::charge(const ResourceDef& def, const store::StoreKey& key,
                                           const json::value& before, const NextState& next,
                                           bool removed) {
    if (removed) return Quotas::Claim();
    const json::object& after = next.object.value().get_object();
    TRY_VOID(check_default_class(state_, def.type, after));
    return state_.quotas.claim(def.type, key, &before.get_object(), after);
}

Task<kube::Document> Writer::copy_of(kube::ObjectPtr object, std::size_t bytes) {
    co_return co_await compute_beside(
        state_.options.side_thread, "copy a last state", bytes,
        [object = std::move(object)] { return kube::Document(*object); });
}

Task<StatusResult<WriteOutcome>> Writer::rewrite(DefPtr def, std::string namespace_,
                                                 std::string name, Change change,
                                                 RewriteOptions options) {
    const std::optional<AdmissionSubject>& subject = options.subject;
    const store::StoreKey key{def->storage_key(), namespace_, name};
    store::StoredObject current{key, 0, nullptr};
    if (const CachedObject* cached = state_.cache.find(key.resource, namespace_, name))
        current = {key, cached->revision, cached->object};
    if (current.object == nullptr) co_return not_found(def->type, name);
    for (int attempt = 1; attempt <= kConflictAttempts; ++attempt) {
        const std::size_t bytes = current.object->text().size();
        CO_TRY(const kube::ObjectPtr before, co_await meet(state_, def, current.object));
        CO_TRY(NextState next,
               co_await compute_beside(options.pure ? state_.options.side_thread : nullptr,
                                       "decide a change", weight_of(*def, options.bytes + bytes),
                                       [&change, before] { return decided(change, *before); }));
        CO_TRY_VOID(admit(options.requester, *before, next));
        WriteOutcome outcome{.object = current.object};
        if (subject) CO_TRY_VOID(co_await mutate_next(*subject, *before, next, outcome.warnings));
        outcome.removed = next.kind == NextState::Kind::kRemove;
        if (next.kind == NextState::Kind::kKeep) co_return outcome;
        if (next.last != nullptr) outcome.object = store::ObjectText::of(next.last);
        if (next.answer != nullptr) outcome.object = next.answer;
        if (subject) {
            const bool gone = outcome.removed || subject->operation == Operation::kDelete;
            CO_TRY_VOID(co_await admission_.validate(
                *subject, before.get(), gone ? nullptr : &next.object.value(), outcome.warnings));
        }
        if (!outcome.removed) {
            CO_TRY(next.object, co_await to_be_stored(def, std::move(next.object)));
        }
        CO_TRY(const Quotas::Claim charged, charge(*def, key, *before, next, outcome.removed));
        if (options.dry_run) {
            if (!outcome.removed)
                outcome.object = store::ObjectText::of(std::move(next.object).share());
            co_return outcome;
        }
        Result<store::StoredObject> stored = Error(Code::kInternal, "not written");
        if (outcome.removed)
            stored = co_await state_.store->remove(
                key, current.revision,
                with_revision(co_await copy_of(
                    next.last == nullptr ? current.object->tree() : next.last, bytes)));
        else
            stored = co_await state_.store->update(key, current.revision,
                                                   with_revision(std::move(next.object)));
        if (stored) {
            if (next.answer == nullptr) outcome.object = std::move(stored->object);
            co_return outcome;
        }
        if (stored.error().code() == Code::kNotFound) co_return not_found(def->type, name);
        if (stored.error().code() != Code::kConflict) co_return std::move(stored.error());
        stored = co_await state_.store->get(key);
        if (!stored) co_return not_found(def->type, name);
        current = std::move(*stored);
    }
    co_return stale_write(def->type, name);
}

Task<StatusResult<WriteOutcome>> Writer::update(Target target, kube::ObjectPtr body,
                                                WriteQuery query) {
    const BodyPart part = target.subresource == "status" ? BodyPart::kStatus : BodyPart::kWhole;
    CO_TRY(DecodedObject decoded,
           co_await compute_beside(state_.options.side_thread, "decode an update",
                                   schema_weight(*target.def, query.requester.body_bytes),
                                   [def = target.def, body, validation = query.field_validation,
                                    part] { return decode_object(*def, body, validation, part); }));
    json::object& meta = ensure_object(decoded.object.object(), "metadata");
    const std::string_view name = string_at(meta, "name");
    if (name.empty()) {
        if (!string_at(meta, "generateName").empty() || !target.def->create_on_update)
            co_return bad_request("name must be provided");
        meta["name"] = target.name;
    } else if (name != target.name) {
        co_return bad_request(
            fmt::format("the name of the object ({}) does not match the name on the URL ({})", name,
                        target.name));
    }
    const std::string_view sent_namespace = string_at(meta, "namespace");
    if (target.type().namespaced && !sent_namespace.empty() && sent_namespace != target.namespace_)
        co_return bad_request(
            fmt::format("the namespace of the object ({}) does not match the namespace on the URL "
                        "({})",
                        sent_namespace, target.namespace_));
    if (target.def->create_on_update && target.subresource.empty() &&
        state_.cache.find(target.def->storage_key(), target.namespace_, target.name) == nullptr) {
        meta.erase("resourceVersion");
        co_return co_await insert(std::move(target), std::move(decoded), std::move(query),
                                  Ownership::Kind::kWrite);
    }
    const Ownership owner = ownership(target, query, Ownership::Kind::kWrite);
    std::vector<std::string> warnings = std::move(decoded.warnings);
    // The first attempt uses up the decoded object; only a lost race decodes it again.
    auto first = std::make_shared<std::optional<DecodedObject>>(std::move(decoded));
    const Change change = [target, body, query, part, owner,
                           first](const json::value& current) -> StatusResult<NextState> {
        if (!*first) {
            TRY(*first, decode_object(*target.def, body, query.field_validation, part));
        }
        DecodedObject proposed = *std::exchange(*first, std::nullopt);
        return decide_update(*target.def, current, std::move(proposed), target.subresource,
                             WriteKind::kUpdate, owner);
    };
    StatusResult<WriteOutcome> outcome = co_await rewrite(
        target.def, target.namespace_, target.name, change, updating(target, query));
    if (outcome) prepend(outcome->warnings, std::move(warnings));
    co_return outcome;
}

Task<StatusResult<WriteOutcome>> Writer::patch(Target target, kube::ContentType type,
                                               kube::ObjectPtr patch, WriteQuery query) {
    if (type == kube::ContentType::kApplyPatch)
        co_return co_await apply(std::move(target), std::move(patch), std::move(query));
    const Ownership owner = ownership(target, query, Ownership::Kind::kWrite);
    auto warnings = std::make_shared<std::vector<std::string>>();
    const Change change = [target, type, patch, query, owner,
                           warnings](const json::value& current) -> StatusResult<NextState> {
        TRY(DecodedObject patched, apply_patch(*target.def, current, target.subresource, type,
                                               *patch, query.field_validation));
        *warnings = patched.warnings;
        return decide_update(*target.def, current, std::move(patched), target.subresource,
                             WriteKind::kPatch, owner);
    };
    StatusResult<WriteOutcome> outcome = co_await rewrite(
        target.def, target.namespace_, target.name, change, updating(target, query));
    if (outcome) prepend(outcome->warnings, std::move(*warnings));
    co_return outcome;
}

Task<StatusResult<WriteOutcome>> Writer::apply(Target target, kube::ObjectPtr configuration,
                                               WriteQuery query) {
    CO_TRY_VOID(check_configuration(target, *configuration));
    const Ownership owner = ownership(target, query, Ownership::Kind::kApplied);
    const Change change = [target, configuration, query,
                           owner](const json::value& current) -> StatusResult<NextState> {
        TRY(DecodedObject applied,
            apply_configuration(target, current, *configuration, owner.manager, query));
        return decide_update(*target.def, current, std::move(applied), target.subresource,
                             WriteKind::kPatch, owner);
    };
    // The object may come and go meanwhile.
    for (int attempt = 1;; ++attempt) {
        const bool last = attempt == kConflictAttempts;
        StatusResult<WriteOutcome> outcome = not_found(target.type(), target.name);
        Code lost_race = Code::kNotFound;
        if (!target.subresource.empty() ||
            state_.cache.find(target.def->storage_key(), target.namespace_, target.name)) {
            outcome = co_await rewrite(target.def, target.namespace_, target.name, change,
                                       updating(target, query));
            if (!target.subresource.empty()) co_return outcome;
        } else {
            CO_TRY(DecodedObject made,
                   co_await compute_beside(state_.options.side_thread, "decode an applied object",
                                           schema_weight(*target.def, query.requester.body_bytes),
                                           [&] {
                                               return new_from_configuration(target, *configuration,
                                                                             owner.manager, query);
                                           }));
            outcome = co_await insert(target, std::move(made), query, Ownership::Kind::kApplied);
            lost_race = Code::kAlreadyExists;
        }
        if (outcome || last || outcome.error().error.code() != lost_race) co_return outcome;
    }
}

Task<StatusResult<WriteOutcome>> Writer::remove(Target target, DeleteQuery query) {
    const Change change = [def = target.def, query,
                           now = state_.clock.wall_now()](const json::value& current) {
        return decide_delete(*def, current, query, now);
    };
    co_return co_await rewrite(
        target.def, target.namespace_, target.name, change,
        {.dry_run = query.dry_run,
         .subject = subject_of(Operation::kDelete, target,
                               {.dry_run = query.dry_run, .requester = query.requester}),
         .pure = true});
}

}  // namespace muster::apiserver
