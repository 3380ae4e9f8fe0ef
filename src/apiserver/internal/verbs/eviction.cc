#include "apiserver/internal/verbs/eviction.h"

#include "apiserver/internal/disruption/budget.h"
#include "apiserver/internal/verbs/subresources.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/label_selection.h"

namespace muster::apiserver {

namespace {

constexpr int kAttempts = 5;

/// The budgets that cover a pod, as they were when they were looked up.
std::vector<kube::ObjectPtr> budgets_of(const WatchCache& cache, const std::string& namespace_,
                                        const json::object& pod) {
    std::vector<kube::ObjectPtr> covering;
    const json::object* labels = object_at(metadata_of(pod), "labels");
    const auto [first, last] = cache.range(kDisruptionBudgets.qualified(), namespace_);
    for (auto budget = first; budget != last; ++budget) {
        kube::ObjectPtr tree = budget->second.tree();
        const auto selector = covered_by(tree->get_object());
        if (selector && matches_labels(*selector, labels)) covering.push_back(std::move(tree));
    }
    return covering;
}

StatusResult<EvictionPermit> permit(const json::object& pod,
                                    const std::vector<kube::ObjectPtr>& covering) {
    std::vector<const json::object*> budgets;
    for (const kube::ObjectPtr& budget : covering) budgets.push_back(&budget->get_object());
    return permit_eviction(pod, budgets);
}

Task<StatusResult<void>> spend(ServerState& state, Writer& writer, std::string namespace_,
                               std::string budget, std::string pod, bool dry_run) {
    const DefPtr def =
        state.registry.find(kDisruptionBudgets.api_version(), kDisruptionBudgets.plural);
    Writer::Change decide = [def, pod, now = state.clock.wall_now()](const json::value& current) {
        return spend_eviction(*def, current, pod, now);
    };
    StatusResult<WriteOutcome> spent =
        co_await writer.rewrite(def, namespace_, budget, std::move(decide), {.dry_run = dry_run});
    // A budget that was deleted meanwhile blocks nothing.
    if (!spent && spent.error().error.code() != Code::kNotFound) co_return spent.error();
    co_return StatusResult<void>();
}

}  // namespace

Task<StatusResult<Reply>> evict_pod(ServerState& state, Writer& writer, Target target,
                                    kube::Request request) {
    if (request.method != kube::Method::kPost) co_return method_not_allowed();
    CO_TRY(const kube::Request deletion, deletion_of_eviction(request, target.name));
    CO_TRY(DeleteQuery query, parse_delete_query(deletion));
    target.subresource.clear();
    bool paid = false;
    for (int attempt = 1;; ++attempt) {
        const CachedObject* found =
            state.cache.find(target.def->storage_key(), target.namespace_, target.name);
        if (found == nullptr) co_return not_found(target.type(), target.name);
        const kube::ObjectPtr pod = found->tree();
        // A decision about one pod must not affect another one of the same name.
        const std::string uid(uid_of(pod->get_object()));
        if (query.precondition_uid.empty()) query.precondition_uid = uid;
        const auto covering = budgets_of(state.cache, target.namespace_, pod->get_object());
        CO_TRY(const EvictionPermit needed, permit(pod->get_object(), covering));
        const std::string first =
            covering.empty() ? std::string() : std::string(name_of(covering[0]->get_object()));
        if (!needed.budget.empty() && !paid) {
            CO_TRY_VOID(co_await spend(state, writer, target.namespace_, needed.budget, target.name,
                                       query.dry_run));
            paid = true;
        }
        if (!query.precondition_resource_version.empty()) break;
        bool overtaken = false;
        Writer::Change decide = [&](const json::value& current) -> StatusResult<NextState> {
            const json::object& now = current.get_object();
            if (uid_of(now) != query.precondition_uid)
                return conflict(target.type(), name_of(now), "the pod was replaced by another one");
            TRY(const EvictionPermit still, permit(now, covering));
            // It has become ready after it was decided that no budget is needed.
            overtaken = !paid && !still.budget.empty();
            if (overtaken) return eviction_overtaken(first);
            return decide_eviction(*target.def, current, state.clock.wall_now());
        };
        const StatusResult<WriteOutcome> marked =
            co_await writer.rewrite(target.def, target.namespace_, target.name, std::move(decide),
                                    {.dry_run = query.dry_run});
        if (marked) break;
        if (!overtaken || attempt == kAttempts) co_return marked.error();
    }
    CO_TRY_VOID(co_await writer.remove(std::move(target), query));
    co_return created_status();
}

}  // namespace muster::apiserver
