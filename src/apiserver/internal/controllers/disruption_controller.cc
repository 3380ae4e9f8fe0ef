#include "apiserver/internal/controllers/disruption_controller.h"

#include "apiserver/objects/json_access.h"
#include "apiserver/objects/label_selection.h"
#include "apiserver/objects/text_fields.h"
#include "apiserver/watching/visit_in_turns.h"

namespace muster::apiserver {

namespace {

const std::string& budgets() {
    static const std::string kResource = kDisruptionBudgets.qualified();
    return kResource;
}

const json::object* labels_of(const json::object& object) {
    return object_at(metadata_of(object), "labels");
}

bool matches(const std::optional<kube::LabelSelector>& selector, const auto& labels) {
    return selector && matches_labels(*selector, labels);
}

}  // namespace

DisruptionController::DisruptionController(ServerState& state, Writer& writer)
    : state_(state),
      writer_(writer),
      queue_("disruption budgets", state.tasks, state.clock,
             [this](NamespacedName key) { return reconcile(std::move(key)); }) {}

void DisruptionController::recover(const StartingObject& object) {
    if (object.key.resource != budgets()) return;
    const NamespacedName key{object.key.namespace_, object.key.name};
    put_budget(key, object.cached.tree()->get_object());
    queue_.add(key);
}

void DisruptionController::put_budget(const NamespacedName& key, const json::object& budget) {
    std::optional<kube::LabelSelector> selector = covered_by(budget);
    const auto [entry, fresh] = budgets_.try_emplace(key);
    if (!fresh && entry->second.selector == selector) return;
    entry->second = {.selector = std::move(selector), .since = ++selectors_};
}

Task<void> DisruptionController::find_pods(NamespacedName key) {
    const std::uint64_t since = budgets_.at(key).since;
    const auto budget = [&]() -> Covered* {
        const auto found = budgets_.find(key);
        return found == budgets_.end() || found->second.since != since ? nullptr : &found->second;
    };
    co_await visit_in_turns(state_.cache, "pods", key.namespace_,
                            [&](const auto&, const auto& pod) {
                                Covered* const covered = budget();
                                if (covered == nullptr) return false;
                                if (matches(covered->selector, *pod.object))
                                    covered->coverage.put(pod.tree()->get_object());
                                return true;
                            });
    if (Covered* const covered = budget()) covered->has_pods = true;
}

void DisruptionController::observe(const store::StoreChange& change, const kube::ObjectPtr&) {
    const NamespacedName key{change.key.namespace_, change.key.name};
    if (change.key.resource == budgets()) {
        if (change.object == nullptr) {
            budgets_.erase(key);
            queue_.forget(key);
            return;
        }
        put_budget(key, change.object->get_object());
        queue_.add(key);
        return;
    }
    if (budgets_.empty()) return;
    if (change.key.resource == "pods") return observe_pod(change);
    // The controller of the pods may have been scaled.
    if (change.object == nullptr) return;
    const std::string_view uid = uid_of(change.object->get_object());
    for (auto budget = budgets_.lower_bound({key.namespace_, ""});
         budget != budgets_.end() && budget->first.namespace_ == key.namespace_; ++budget)
        if (budget->second.coverage.is_controlled_by(uid)) queue_.add(budget->first);
}

void DisruptionController::observe_pod(const store::StoreChange& change) {
    const std::string& space = change.key.namespace_;
    for (auto budget = budgets_.lower_bound({space, ""});
         budget != budgets_.end() && budget->first.namespace_ == space; ++budget) {
        Coverage& coverage = budget->second.coverage;
        const json::object* pod = change.object == nullptr ? nullptr : &change.object->get_object();
        const bool covered = pod != nullptr && matches(budget->second.selector, labels_of(*pod));
        const bool changed = covered ? coverage.put(*pod) : coverage.remove(change.key.name);
        if (changed) queue_.add(budget->first);
    }
}

std::optional<std::int64_t> DisruptionController::scale_of(const std::string& namespace_,
                                                           const PodController& controller) const {
    const DefPtr def = state_.registry.find_kind(controller.api_version, controller.kind);
    if (def == nullptr || !def->scale) return std::nullopt;
    const CachedObject* found = state_.cache.find(def->storage_key(), namespace_, controller.name);
    if (found == nullptr || uid_of(*found->object) != controller.uid) return std::nullopt;
    const json::value replicas = value_at_path(found->object->text(), def->scale->spec_replicas);
    const std::int64_t* number = replicas.if_int64();
    return number == nullptr ? 0 : *number;
}

Task<StatusResult<void>> DisruptionController::reconcile(NamespacedName key) {
    const DefPtr def =
        state_.registry.find(kDisruptionBudgets.api_version(), kDisruptionBudgets.plural);
    if (const auto known = budgets_.find(key); known != budgets_.end() && !known->second.has_pods)
        co_await find_pods(key);
    std::optional<WallTime> again;
    Writer::Change change = [this, def, key, &again](const json::value& current) {
        const auto covered = budgets_.find(key);
        // One whose selector has changed meanwhile is in the queue again.
        if (covered == budgets_.end() || !covered->second.has_pods)
            return StatusResult<NextState>(NextState{});
        BudgetState state = budget_status(
            current.get_object(), covered->second.coverage,
            [&](const PodController& controller) { return scale_of(key.namespace_, controller); },
            state_.clock.wall_now());
        again = state.requeue_at;
        const json::value status(std::move(state.status));
        kube::Document next(current, kube::tree_bytes(status));
        next.object()["status"] = status;
        return StatusResult<NextState>(settle(*def, current, std::move(next)));
    };
    const StatusResult<WriteOutcome> written =
        co_await writer_.rewrite(def, key.namespace_, key.name, std::move(change));
    if (!written) {
        if (written.error().error.code() == Code::kNotFound) co_return StatusResult<void>();
        co_return written.error();
    }
    if (again && budgets_.contains(key)) queue_.add_at(key, *again + std::chrono::seconds(1));
    co_return StatusResult<void>();
}

}  // namespace muster::apiserver
