#include "apiserver/internal/controllers/role_aggregation_controller.h"

#include "apiserver/internal/controllers/default_roles.h"
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
      work_("aggregation of roles", state.tasks, state.clock,
            [this](std::string name) { return aggregate(std::move(name)); }) {}

void RoleAggregationController::observe(const store::StoreChange& change) {
    if (change.key.resource != cluster_roles()) return;
    for (const auto& [key, cached] : state_.cache.objects(cluster_roles()))
        if (is_aggregated(cached.tree()->get_object())) work_.add(key.second);
}

Task<StatusResult<void>> RoleAggregationController::aggregate(std::string name) {
    std::vector<kube::ObjectPtr> roles;
    for (const auto& [key, cached] : state_.cache.objects(cluster_roles()))
        roles.push_back(cached.tree());
    const DefPtr def = state_.registry.find(kClusterRoles.api_version(), kClusterRoles.plural);
    Writer::Change change = [def, roles](const json::value& current) -> StatusResult<NextState> {
        const std::optional<json::array> rules = aggregated_rules(current.get_object(), roles);
        if (!rules) return NextState{};
        kube::Document next(current);
        next.object()["rules"] = *rules;
        return settle(*def, current, std::move(next));
    };
    StatusResult<WriteOutcome> written =
        co_await writer_.rewrite(def, "", std::move(name), std::move(change), false);
    if (!written && written.error().error.code() != Code::kNotFound)
        co_return std::move(written.error());
    co_return StatusResult<void>();
}

Task<StatusResult<void>> RoleAggregationController::post(DefPtr def, json::object expected) {
    Target target;
    target.def = def;
    const std::string name(name_of(expected));
    if (const CachedObject* found = state_.cache.find(def->storage_key(), "", name)) {
        Reconciled reconciled = reconcile(found->tree()->get_object(), expected);
        if (reconciled.kind == Reconciled::Kind::kKeep) co_return StatusResult<void>();
        if (reconciled.kind == Reconciled::Kind::kUpdate) {
            Writer::Change change = [def, expected](const json::value& current) {
                Reconciled again = reconcile(current.get_object(), expected);
                if (again.kind != Reconciled::Kind::kUpdate)
                    return StatusResult<NextState>(NextState{});
                return StatusResult<NextState>(
                    settle(*def, current, kube::Document(json::value(std::move(again.object)))));
            };
            CO_TRY_VOID(co_await writer_.rewrite(def, "", name, std::move(change), false));
            co_return StatusResult<void>();
        }
        Target old = target;
        old.name = name;
        CO_TRY_VOID(co_await writer_.remove(std::move(old), DeleteQuery{}));
        expected = std::move(reconciled.object);
    }
    auto body = std::make_shared<const json::value>(std::move(expected));
    CO_TRY_VOID(co_await writer_.create(std::move(target), std::move(body), WriteQuery{}));
    co_return StatusResult<void>();
}

Task<void> RoleAggregationController::try_to_post(DefPtr def, json::object expected,
                                                  std::shared_ptr<std::optional<Error>> failure) {
    StatusResult<void> posted = co_await post(std::move(def), std::move(expected));
    if (!posted) *failure = std::move(posted.error().error);
}

Task<Result<void>> RoleAggregationController::post_defaults() {
    // Side by side, so that a store with a disk commits them together.
    TaskGroup posting(state_.executor);
    const auto failure = std::make_shared<std::optional<Error>>();
    for (DefaultObject& one : default_access_objects()) {
        DefPtr def = state_.registry.find(one.type->api_version(), one.type->plural);
        posting.spawn("default access",
                      try_to_post(std::move(def), std::move(one.object), failure));
    }
    co_await posting.join();
    if (!*failure) co_return Result<void>();
    (*failure)->prefix("posting the default roles");
    co_return **failure;
}

}  // namespace muster::apiserver
