#include "apiserver/internal/namespaces/namespace_controller.h"

#include "apiserver/internal/namespaces/namespace_conditions.h"
#include "apiserver/internal/types/crd.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/text_fields.h"
#include "apiserver/watching/visit_in_turns.h"
#include "base/time/loop_watch.h"

namespace muster::apiserver {

namespace {

constexpr int kDeletionsPerTurn = 64;

bool is_namespace(const store::StoreKey& key) { return key.resource == "namespaces"; }
bool is_crd(const store::StoreKey& key) {
    static const std::string kCrds = kube::types::kCustomResourceDefinitions.qualified();
    return key.resource == kCrds;
}
std::string scope_of(const store::StoreKey& container) {
    return is_namespace(container) ? container.name : std::string();
}

void remove_entry(json::object& parent, std::string_view key, std::string_view entry) {
    json::array* entries = array_at(parent, key);
    if (entries == nullptr) return;
    json::array kept;
    for (json::value& value : *entries)
        if (value != json::value(entry)) kept.push_back(std::move(value));
    *entries = std::move(kept);
}

}  // namespace

NamespaceController::NamespaceController(ServerState& state, Writer& writer,
                                         std::unique_ptr<OutsideContent> outside)
    : state_(state),
      writer_(writer),
      queue_("content clean-up", state.tasks, state.clock,
             [this](store::StoreKey key) { return reconcile(std::move(key)); }),
      outside_(std::move(outside)) {
    outside_->when_gone(
        [this](std::string name) { queue_.add({"namespaces", "", std::move(name)}); });
}

void NamespaceController::observe(const store::StoreChange& change, const kube::ObjectPtr&) {
    if (change.object != nullptr) return add_if_deleting(change.key, *change.text);
    const auto add_container = [&](std::string resource, const std::string& name) {
        const CachedObject* container = state_.cache.find(resource, "", name);
        if (container != nullptr && is_deleting(*container->object))
            queue_.add({std::move(resource), "", name});
    };
    if (!change.key.namespace_.empty()) add_container("namespaces", change.key.namespace_);
    add_container(kube::types::kCustomResourceDefinitions.qualified(), change.key.resource);
}

void NamespaceController::recover(const StartingObject& object) {
    if (object.owned_or_deleting) add_if_deleting(object.key, *object.cached.object);
}

void NamespaceController::add_if_deleting(const store::StoreKey& key,
                                          const store::ObjectText& object) {
    if ((is_namespace(key) || is_crd(key)) && is_deleting(object)) queue_.add(key);
}

std::vector<DefPtr> NamespaceController::content_types(const store::StoreKey& container) const {
    std::vector<DefPtr> types;
    for (const auto& [name, def] : state_.registry.resources())
        if (is_namespace(container) ? def->type.namespaced : def->custom && name == container.name)
            types.push_back(def);
    return types;
}

Task<StatusResult<void>> NamespaceController::delete_content(store::StoreKey container) {
    int deleted = 0;
    for (const DefPtr& def : content_types(container)) {
        std::vector<NamespacedName> keys;
        co_await visit_in_turns(state_.cache, def->storage_key(), scope_of(container),
                                [&](const NamespacedName& key, const CachedObject& cached) {
                                    if (!is_deleting(*cached.object)) keys.push_back(key);
                                    return true;
                                });
        for (const NamespacedName& key : keys) {
            Target target;
            target.def = def;
            target.namespace_ = key.namespace_;
            target.name = key.name;
            DeleteQuery query;
            query.propagation = "Background";
            StatusResult<WriteOutcome> removed =
                co_await writer_.remove(std::move(target), std::move(query));
            if (!removed && removed.error().error.code() != Code::kNotFound)
                co_return std::move(removed.error());
            if (++deleted % kDeletionsPerTurn == 0 || turn_is_long())
                co_await asio::post(state_.executor, asio::use_awaitable);
        }
    }
    co_return StatusResult<void>();
}

bool NamespaceController::is_empty(const store::StoreKey& container) const {
    return std::ranges::all_of(content_types(container), [&](const DefPtr& def) {
        const auto [first, last] = state_.cache.range(def->storage_key(), scope_of(container));
        return first == last;
    });
}

Task<StatusResult<void>> NamespaceController::reconcile(store::StoreKey key) {
    // Content that was admitted before the end of its container was noticed may still be in
    // progress.
    co_await state_.store->settled();
    const CachedObject* found = state_.cache.find(key.resource, "", key.name);
    if (found == nullptr || !is_deleting(*found->object)) co_return StatusResult<void>();
    const std::string uid = uid_of(*found->object);
    if (!swept_.contains(uid)) {
        CO_TRY_VOID(co_await delete_content(key));
        swept_.insert(uid);
        if (!is_empty(key)) co_return co_await report_remaining(std::move(key));
    }
    if (!is_empty(key)) co_return StatusResult<void>();
    if (is_namespace(key) && !outside_->is_gone(key.name, uid)) co_return StatusResult<void>();
    swept_.erase(uid);
    co_return co_await let_go(std::move(key));
}

Task<StatusResult<void>> NamespaceController::report_remaining(store::StoreKey container) {
    if (!is_namespace(container)) co_return StatusResult<void>();
    NamespaceContent left;
    for (const DefPtr& def : content_types(container)) {
        co_await visit_in_turns(state_.cache, def->storage_key(), container.name,
                                [&](const NamespacedName&, const CachedObject& cached) {
                                    ++left.instances[def->type.qualified()];
                                    each_finalizer(cached.object->text(),
                                                   [&](std::string_view name) {
                                                       ++left.by_finalizer[std::string(name)];
                                                   });
                                    return true;
                                });
    }
    co_return co_await report_content(state_, writer_, std::move(container.name), std::move(left));
}

Task<StatusResult<void>> NamespaceController::let_go(store::StoreKey container) {
    auto def = state_.registry.resources().find(container.resource);
    const DefPtr type = def->second;
    const bool of_namespace = is_namespace(container);
    Writer::Change change = [type, of_namespace](const json::value& current) {
        kube::Document next(current);
        json::object& fields = next.object();
        if (of_namespace)
            remove_entry(ensure_object(fields, "spec"), "finalizers", "kubernetes");
        else
            remove_entry(ensure_object(fields, "metadata"), "finalizers", kCrdCleanupFinalizer);
        return StatusResult<NextState>(settle(*type, current, std::move(next)));
    };
    co_return done_unless(
        co_await writer_.rewrite(type, "", container.name, std::move(change), {.pure = true}),
        {Code::kNotFound});
}

}  // namespace muster::apiserver
