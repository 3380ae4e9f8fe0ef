#include "apiserver/internal/writing/limit_checks.h"

#include <fmt/format.h>

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

StatusResult<void> check_limits(const Target& target, const json::object& object,
                                const Surroundings& surroundings) {
    if (surroundings.ranges.empty()) return {};
    const std::string problem = is_pod(target) ? pod_limit_problem(object, surroundings.ranges)
                                               : claim_limit_problem(object, surroundings.ranges);
    if (!problem.empty()) return forbidden(target.type(), name_of(object), problem);
    return {};
}

StatusResult<void> check_default_class(const ServerState& state, const kube::ResourceType& type,
                                       const json::object& after) {
    if (type.plural != "priorityclasses" || !bool_at(after, "globalDefault")) return {};
    const std::string_view other = state.default_class.name();
    if (other.empty() || other == name_of(after)) return {};
    return forbidden(
        type, name_of(after),
        fmt::format("PriorityClass {} is already marked as default. Only one default can exist",
                    other));
}

StatusResult<Quotas::Claim> claim_room(ServerState& state, const ResourceDef& def,
                                       const store::StoreKey& key, const json::value& before,
                                       const NextState& next) {
    if (next.kind == NextState::Kind::kRemove) return Quotas::Claim();
    const json::object& after = next.object.value().get_object();
    TRY_VOID(check_default_class(state, def.type, after));
    return state.quotas.claim(def.type, key, &before.get_object(), after, state.clock.wall_now());
}

}  // namespace muster::apiserver
