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
    if (object.key.resource != cluster_roles()) return;
    const kube::ObjectPtr role = object.cached.tree();
    aggregating_.put(object.key.name, &role->get_object());
    if (is_aggregated(role->get_object())) queue_.add(object.key.name);
}

void RoleAggregationController::observe(const store::StoreChange& change,
                                        const kube::ObjectPtr& before) {
    if (change.key.resource != cluster_roles()) return;
    const std::string& name = change.key.name;
    const json::object* const role =
        change.object == nullptr ? nullptr : &change.object->get_object();
    aggregating_.put(name, role);
    std::set<std::string> concerned;
    if (before != nullptr) aggregating_.add_wholes_of(before->get_object(), concerned);
    if (role != nullptr) aggregating_.add_wholes_of(*role, concerned);
    if (role != nullptr && is_aggregated(*role)) concerned.insert(name);
    for (const std::string& one : concerned) queue_.add(one);
}

Task<StatusResult<void>> RoleAggregationController::reconcile(std::string name) {
    std::vector<kube::ObjectPtr> roles;
    std::size_t bytes = 0;
    const auto add = [&](const CachedObject& role) {
        roles.push_back(role.tree());
        bytes += role.object->text().size();
    };
    if (const auto parts = aggregating_.parts_of(name)) {
        for (const std::string& part : *parts)
            if (const CachedObject* role = state_.cache.find(cluster_roles(), "", part)) add(*role);
    } else {
        for (const auto& [key, role] : state_.cache.objects(cluster_roles())) add(role);
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
