#include "apiserver/internal/controllers/role_aggregation_controller.h"

#include "apiserver/internal/controllers/role_reconciliation.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/resources/access_types.h"
#include "kube/values/equality.h"

namespace muster::apiserver {

namespace {

const std::string& cluster_roles() {
    static const std::string kResource = kClusterRoles.qualified();
    return kResource;
}

bool is_aggregated(const json::object& role) {
    return object_at(role, "aggregationRule") != nullptr;
}

}  // namespace

RoleAggregationController::RoleAggregationController(ServerState& state, Writer& writer)
    : state_(state),
      writer_(writer),
      queue_("aggregation of roles", state.tasks, state.clock,
             [this](std::string name) { return reconcile(std::move(name)); }) {}

void RoleAggregationController::recover(const StartingObject& object) {
    if (object.key.resource == cluster_roles() && is_aggregated(object.cached.tree()->get_object()))
        queue_.add(object.key.name);
}

void RoleAggregationController::observe(const store::StoreChange& change, const kube::ObjectPtr&) {
    if (change.key.resource != cluster_roles()) return;
    for (const auto& [key, cached] : state_.cache.objects(cluster_roles()))
        if (is_aggregated(cached.tree()->get_object())) queue_.add(key.name);
}

Task<StatusResult<void>> RoleAggregationController::reconcile(std::string name) {
    std::vector<kube::ObjectPtr> roles;
    std::size_t bytes = 0;
    for (const auto& [key, cached] : state_.cache.objects(cluster_roles())) {
        roles.push_back(cached.tree());
        bytes += cached.object->text().size();
    }
    const DefPtr def = state_.registry.find(kClusterRoles.api_version(), kClusterRoles.plural);
    Writer::Change change = [def, roles](const json::value& current) -> StatusResult<NextState> {
        const std::optional<json::array> rules = aggregated_rules(current.get_object(), roles);
        if (!rules) return NextState{};
        kube::Document next(current);
        next.object()["rules"] = *rules;
        return settle(*def, current, std::move(next));
    };
    co_return done_unless(co_await writer_.rewrite(def, "", std::move(name), std::move(change),
                                                   {.pure = true, .bytes = bytes}),
                          {Code::kNotFound});
}

}  // namespace muster::apiserver
