#include "apiserver/internal/controllers/garbage_collector.h"

#include "apiserver/objects/json_access.h"
#include "apiserver/objects/text_fields.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kGoneRemembered = 500;
constexpr std::string_view kForeground = "foregroundDeletion";
constexpr std::string_view kOrphan = "orphan";

template <class Function>
void for_each_reference(const json::object& object, Function function) {
    const json::array* references = array_at(metadata_of(object), "ownerReferences");
    if (references == nullptr) return;
    for (const json::value& entry : *references)
        if (const json::object* reference = entry.if_object()) function(*reference);
}

bool has_references(const json::object& object) {
    const json::array* references = array_at(metadata_of(object), "ownerReferences");
    return references != nullptr && !references->empty();
}

bool same_references(const json::object& a, const json::object& b) {
    const json::value* left = metadata_of(a).if_contains("ownerReferences");
    const json::value* right = metadata_of(b).if_contains("ownerReferences");
    if (left == nullptr || right == nullptr) return left == right;
    return kube::equal(*left, *right);
}

bool waits(const json::object& object, std::string_view finalizer) {
    return is_deleting(object) && has_finalizer(object, finalizer);
}

/// The object is gone, or is another one by now.
template <class T>
StatusResult<void> done_if_settled(StatusResult<T> result) {
    return done_unless(std::move(result), {Code::kNotFound, Code::kConflict});
}

}  // namespace

GarbageCollector::GarbageCollector(ServerState& state, Writer& writer)
    : state_(state),
      writer_(writer),
      queue_("garbage collector", state.tasks, state.clock,
             [this](store::StoreKey key) { return reconcile(std::move(key)); }) {}

GarbageCollector::OwnerState GarbageCollector::owner_state(const json::object& reference,
                                                           const std::string& namespace_) const {
    const std::string uid(string_at(reference, "uid"));
    const DefPtr def =
        state_.registry.find_kind(string_at(reference, "apiVersion"), string_at(reference, "kind"));
    // A cluster-scoped object can't have an owner in a namespace; it is left alone.
    if (def != nullptr && def->type.namespaced && namespace_.empty()) return OwnerState::kAlive;
    if (gone_.contains(uid)) return OwnerState::kAbsent;
    if (def == nullptr) return OwnerState::kAlive;
    const CachedObject* owner =
        state_.cache.find(def->storage_key(), def->type.namespaced ? namespace_ : std::string(),
                          std::string(string_at(reference, "name")));
    if (owner == nullptr || uid_of(*owner->object) != uid) return OwnerState::kAbsent;
    const bool waiting =
        is_deleting(*owner->object) && waits(owner->tree()->get_object(), kForeground);
    return waiting ? OwnerState::kWaiting : OwnerState::kAlive;
}

void GarbageCollector::index(const store::StoreKey& key, const json::object& object) {
    for_each_reference(object, [&](const json::object& reference) {
        Dependents& of = dependents_[std::string(string_at(reference, "uid"))];
        const bool blocking = bool_at(reference, "blockOwnerDeletion");
        if (of.blocking.emplace(key, blocking).second && blocking) ++of.blocking_count;
    });
}

void GarbageCollector::unindex(const store::StoreKey& key, const json::object& object) {
    for_each_reference(object, [&](const json::object& reference) {
        auto of = dependents_.find(std::string(string_at(reference, "uid")));
        if (of == dependents_.end()) return;
        auto entry = of->second.blocking.find(key);
        if (entry == of->second.blocking.end()) return;
        if (entry->second) --of->second.blocking_count;
        of->second.blocking.erase(entry);
        if (of->second.blocking.empty()) dependents_.erase(of);
    });
}

void GarbageCollector::add_waiting_owners(const store::StoreKey& key, const json::object& object) {
    for_each_reference(object, [&](const json::object& reference) {
        if (owner_state(reference, key.namespace_) != OwnerState::kWaiting) return;
        const DefPtr def = state_.registry.find_kind(string_at(reference, "apiVersion"),
                                                     string_at(reference, "kind"));
        queue_.add({def->storage_key(), def->type.namespaced ? key.namespace_ : std::string(),
                    std::string(string_at(reference, "name"))});
    });
}

void GarbageCollector::remember_gone(std::string uid) {
    gone_order_.push_back(uid);
    gone_.insert(std::move(uid));
    if (gone_order_.size() <= kGoneRemembered) return;
    gone_.erase(gone_order_.front());
    gone_order_.pop_front();
}

void GarbageCollector::observe(const store::StoreChange& change, const kube::ObjectPtr& before) {
    const json::object* old = before == nullptr ? nullptr : &before->get_object();
    const json::object* now = change.object == nullptr ? nullptr : &change.object->get_object();
    if (now == nullptr) {
        if (old == nullptr) return;
        unindex(change.key, *old);
        std::string uid(uid_of(*old));
        if (auto of = dependents_.find(uid); of != dependents_.end())
            for (const auto& [key, blocking] : of->second.blocking) queue_.add(key);
        remember_gone(std::move(uid));
        add_waiting_owners(change.key, *old);
        return;
    }
    if (old == nullptr || !same_references(*old, *now)) {
        if (old != nullptr) {
            unindex(change.key, *old);
            add_waiting_owners(change.key, *old);
        }
        index(change.key, *now);
        bool owner_missing = false;
        for_each_reference(*now, [&](const json::object& reference) {
            owner_missing |= owner_state(reference, change.key.namespace_) != OwnerState::kAlive;
        });
        if (owner_missing) queue_.add(change.key);
    }
    const auto begins = [&](std::string_view finalizer) {
        return waits(*now, finalizer) && (old == nullptr || !waits(*old, finalizer));
    };
    if (begins(kForeground)) {
        if (auto of = dependents_.find(std::string(uid_of(*now))); of != dependents_.end())
            for (const auto& [key, blocking] : of->second.blocking) queue_.add(key);
        queue_.add(change.key);
    }
    if (begins(kOrphan)) queue_.add(change.key);
}

void GarbageCollector::recover(const StartingObject& object) {
    if (!object.owned_or_deleting) return;
    const auto metadata = text_at_path(object.cached.object->text(), "metadata");
    json::object known;
    for (const char* field : {"uid", "ownerReferences", "deletionTimestamp", "finalizers"})
        if (json::value value = value_at_path(*metadata, field); !value.is_null())
            known[field] = std::move(value);
    observe({object.key, object.cached.revision,
             std::make_shared<const json::value>(json::object{{"metadata", std::move(known)}}),
             nullptr, nullptr},
            nullptr);
}

Task<StatusResult<void>> GarbageCollector::reconcile(store::StoreKey key) {
    const CachedObject* found = state_.cache.find(key.resource, key.namespace_, key.name);
    if (found == nullptr) co_return StatusResult<void>();
    const kube::ObjectPtr object = found->tree();
    const json::object& fields = object->get_object();
    if (waits(fields, kOrphan)) co_return co_await orphan_dependents(std::move(key), object);
    if (waits(fields, kForeground)) co_return co_await finish_foreground(std::move(key), object);
    if (!is_deleting(fields) && has_references(fields))
        co_return co_await collect(std::move(key), object);
    co_return StatusResult<void>();
}

Task<StatusResult<void>> GarbageCollector::collect(store::StoreKey key, kube::ObjectPtr object) {
    const json::object& fields = object->get_object();
    std::set<std::string> lost;
    bool alive = false;
    bool waiting = false;
    for_each_reference(fields, [&](const json::object& reference) {
        const OwnerState owner = owner_state(reference, key.namespace_);
        alive |= owner == OwnerState::kAlive;
        waiting |= owner == OwnerState::kWaiting;
        if (owner != OwnerState::kAlive) lost.emplace(string_at(reference, "uid"));
    });
    if (lost.empty()) co_return StatusResult<void>();
    if (alive) co_return co_await drop_references(std::move(key), std::move(lost));

    Target target;
    auto def = state_.registry.resources().find(key.resource);
    if (def == state_.registry.resources().end()) co_return StatusResult<void>();
    target.def = def->second;
    target.namespace_ = key.namespace_;
    target.name = key.name;
    DeleteQuery query;
    query.precondition_uid = uid_of(fields);
    const bool has_dependents = dependents_.contains(query.precondition_uid);
    if (has_finalizer(fields, kOrphan))
        query.propagation = "Orphan";
    else if (has_finalizer(fields, kForeground) || (waiting && has_dependents))
        query.propagation = "Foreground";
    else
        query.propagation = "Background";
    co_return done_if_settled(co_await writer_.remove(std::move(target), std::move(query)));
}

Task<StatusResult<void>> GarbageCollector::finish_foreground(store::StoreKey key,
                                                             kube::ObjectPtr object) {
    auto of = dependents_.find(std::string(uid_of(object->get_object())));
    if (of != dependents_.end() && of->second.blocking_count > 0) co_return StatusResult<void>();
    co_return co_await drop_finalizer(std::move(key), std::string(kForeground));
}

Task<StatusResult<void>> GarbageCollector::orphan_dependents(store::StoreKey key,
                                                             kube::ObjectPtr object) {
    const std::string uid(uid_of(object->get_object()));
    std::vector<store::StoreKey> dependents;
    if (auto of = dependents_.find(uid); of != dependents_.end())
        for (const auto& [dependent, blocking] : of->second.blocking)
            dependents.push_back(dependent);
    const std::set<std::string> owner{uid};
    for (const store::StoreKey& dependent : dependents)
        CO_TRY_VOID(co_await drop_references(dependent, owner));
    co_return co_await drop_finalizer(std::move(key), std::string(kOrphan));
}

Task<StatusResult<void>> GarbageCollector::drop_references(store::StoreKey key,
                                                           std::set<std::string> owner_uids) {
    std::function<void(json::object&)> edit = [owner_uids](json::object& metadata) {
        const json::array* references = array_at(metadata, "ownerReferences");
        if (references == nullptr) return;
        json::array kept;
        for (const json::value& entry : *references) {
            const json::object* reference = entry.if_object();
            if (reference == nullptr ||
                !owner_uids.contains(std::string(string_at(*reference, "uid"))))
                kept.push_back(entry);
        }
        if (kept.empty())
            metadata.erase("ownerReferences");
        else
            metadata["ownerReferences"] = std::move(kept);
    };
    co_return co_await change(std::move(key), std::move(edit));
}

Task<StatusResult<void>> GarbageCollector::drop_finalizer(store::StoreKey key,
                                                          std::string finalizer) {
    std::function<void(json::object&)> edit = [finalizer](json::object& metadata) {
        json::array* finalizers = array_at(metadata, "finalizers");
        if (finalizers == nullptr) return;
        json::array kept;
        for (json::value& entry : *finalizers)
            if (entry != json::value(finalizer)) kept.push_back(std::move(entry));
        if (kept.empty())
            metadata.erase("finalizers");
        else
            metadata["finalizers"] = std::move(kept);
    };
    co_return co_await change(std::move(key), std::move(edit));
}

Task<StatusResult<void>> GarbageCollector::change(
    store::StoreKey key, std::function<void(json::object& metadata)> edit) {
    auto def = state_.registry.resources().find(key.resource);
    if (def == state_.registry.resources().end()) co_return StatusResult<void>();
    Writer::Change rewritten = [definition = def->second, edit](const json::value& current) {
        kube::Document next(current);
        edit(ensure_object(next.object(), "metadata"));
        return StatusResult<NextState>(settle(*definition, current, std::move(next)));
    };
    co_return done_if_settled(co_await writer_.rewrite(def->second, key.namespace_, key.name,
                                                       std::move(rewritten), {.pure = true}));
}

}  // namespace muster::apiserver
