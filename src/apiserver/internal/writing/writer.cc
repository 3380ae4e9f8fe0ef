#include "apiserver/internal/writing/writer.h"

#include "apiserver/internal/conversions/webhook_versions.h"
#include "apiserver/internal/expressions/weights.h"
#include "apiserver/internal/writing/deletion_rules.h"
#include "apiserver/internal/writing/limit_checks.h"
#include "apiserver/internal/writing/owner_look_up.h"
#include "apiserver/internal/writing/patching.h"
#include "apiserver/internal/writing/server_side_apply.h"
#include "apiserver/internal/writing/stored_form.h"
#include "apiserver/objects/json_access.h"
#include "base/async/side_thread.h"

namespace muster::apiserver {

namespace {

constexpr int kConflictAttempts = 10;

/// The next state, unless it is too large.
StatusResult<NextState> decided(const Writer::Change& change, const json::value& current) {
    TRY(NextState next, change(current));
    if (next.kind != NextState::Kind::kReplace) return next;
    TRY_VOID(check_size(next.object.value(), current));
    return next;
}

/// Whether what a rule has decided may be stored.
StatusResult<void> admit(const Requester& requester, const json::value& current,
                         const NextState& next) {
    if (next.kind != NextState::Kind::kReplace || next.refusal || !requester.admit) return {};
    return requester.admit(&current.get_object(), next.object.object());
}

void prepend(std::vector<std::string>& warnings, std::vector<std::string> first) {
    warnings.insert(warnings.begin(), std::make_move_iterator(first.begin()),
                    std::make_move_iterator(first.end()));
}

}  // namespace

Ownership Writer::ownership(const Target& target, const WriteQuery& query,
                            Ownership::Kind kind) const {
    return ownership_of(state_, target, query, kind);
}

RewriteOptions Writer::updating(const Target& target, const WriteQuery& query,
                                const Ownership& owner) const {
    return {.dry_run = query.dry_run,
            .requester = query.requester,
            .subject = admission_.subject_of(Operation::kUpdate, target, query),
            .pure = true,
            .bytes = query.requester.body_bytes,
            .ownership = owner};
}

Task<StatusResult<void>> Writer::mutate_next(const AdmissionSubject& subject,
                                             const json::value& current, NextState& next,
                                             std::vector<std::string>& warnings) {
    if (next.kind != NextState::Kind::kReplace || subject.operation == Operation::kDelete)
        co_return StatusResult<void>();
    Admission::Mutators mutators =
        co_await admission_.mutators_of(subject, &current, next.object.value());
    if (mutators.is_empty()) co_return StatusResult<void>();
    DecodedObject proposed{.object = kube::Document(next.object.value())};
    CO_TRY(const bool changed,
           co_await admission_.mutate(mutators, subject, &current, proposed, warnings));
    if (!changed) co_return StatusResult<void>();
    CO_TRY_VOID(co_await admission_.mutate(mutators, subject, &current, proposed, warnings));
    if (state_.options.manage_fields)
        mend_owners(proposed.object.object(), owners_of(next.object.value()), warnings);
    const Target& target = subject.target;
    // What webhooks change has no owner.
    const Ownership owner = ownership(target, {}, Ownership::Kind::kApplied);
    CO_TRY(next, co_await compute_beside(state_.options.side_thread, "decide a changed object",
                                         check_weight(*target.def, subject.requester.body_bytes),
                                         [&target, &current, &proposed, &owner] {
                                             return decide_update(
                                                 *target.def, current, std::move(proposed),
                                                 target.subresource, WriteKind::kPatch, owner);
                                         }));
    co_return admit(subject.requester, current, next);
}

Task<StatusResult<WriteOutcome>> Writer::create(Target target, kube::ObjectPtr body,
                                                WriteQuery query) {
    CO_TRY(DecodedObject decoded,
           co_await compute_beside(state_.options.side_thread, "decode a new object",
                                   schema_weight(*target.def, query.requester.body_bytes),
                                   [def = target.def, body, validation = query.field_validation] {
                                       return decode_object(*def, body, validation);
                                   }));
    const Ownership owner = ownership(target, query, Ownership::Kind::kWrite);
    co_return co_await creation_.insert(std::move(target), std::move(decoded), std::move(query),
                                        owner);
}

Task<StatusResult<WriteOutcome>> Writer::create(const kube::ResourceType& type,
                                                std::string namespace_, json::object object) {
    Target target;
    target.def = state_.registry.find(type.api_version(), type.plural);
    target.namespace_ = std::move(namespace_);
    return create(std::move(target), std::make_shared<const json::value>(std::move(object)),
                  WriteQuery{});
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
    const CachedObject* cached = state_.cache.find(key.resource, namespace_, name);
    if (cached == nullptr) co_return not_found(def->type, name);
    store::StoredObject current{key, cached->revision, cached->object};
    for (int attempt = 1; attempt <= kConflictAttempts; ++attempt) {
        const std::size_t bytes = current.object->text().size();
        CO_TRY(const kube::ObjectPtr before, co_await meet(state_, def, current.object));
        const auto decide = [&]() -> Task<StatusResult<NextState>> {
            return compute_beside(options.pure ? state_.options.side_thread : nullptr,
                                  "decide a change", check_weight(*def, options.bytes + bytes),
                                  [&change, before] { return decided(change, *before); });
        };
        CO_TRY(NextState next, co_await decide_with_views(state_, options.ownership, decide));
        CO_TRY_VOID(admit(options.requester, *before, next));
        WriteOutcome outcome{.object = current.object};
        if (subject) CO_TRY_VOID(co_await mutate_next(*subject, *before, next, outcome.warnings));
        if (next.refusal) co_return *std::move(next.refusal);
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
            CO_TRY(next.object, co_await to_be_stored(state_, def, std::move(next.object)));
        }
        CO_TRY(const Quotas::Claim charged, claim_room(state_, *def, key, *before, next));
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
    const Ownership owner = ownership(target, query, Ownership::Kind::kWrite);
    if (target.def->create_on_update && target.subresource.empty() &&
        state_.cache.find(target.def->storage_key(), target.namespace_, target.name) == nullptr) {
        meta.erase("resourceVersion");
        co_return co_await creation_.insert(std::move(target), std::move(decoded), std::move(query),
                                            owner);
    }
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
        target.def, target.namespace_, target.name, change, updating(target, query, owner));
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
        target.def, target.namespace_, target.name, change, updating(target, query, owner));
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
            apply_configuration(target, current, *configuration, owner, query));
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
                                       updating(target, query, owner));
            if (!target.subresource.empty()) co_return outcome;
        } else {
            CO_TRY(DecodedObject made,
                   co_await compute_beside(
                       state_.options.side_thread, "decode an applied object",
                       schema_weight(*target.def, query.requester.body_bytes), [&] {
                           return new_from_configuration(target, *configuration, owner, query);
                       }));
            outcome = co_await creation_.insert(target, std::move(made), query, owner);
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
         .subject = admission_.subject_of(Operation::kDelete, target,
                                          {.dry_run = query.dry_run, .requester = query.requester}),
         .pure = true});
}

}  // namespace muster::apiserver
