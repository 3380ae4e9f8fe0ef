#include "operator/internal/cache/seen_pods.h"

namespace muster::operators {
namespace {

const std::string& address_of(const PodRecord& pod) {
    static const std::string kNone;
    return pod.address ? *pod.address : kNone;
}

}  // namespace

std::vector<jobs::SeenPod> seen_pods(const JobFacts& facts, const Dependents& dependents) {
    std::vector<jobs::SeenPod> seen;
    const auto look_at = [&](const TypeFacts& type, std::int32_t i,
                             std::optional<std::int32_t> kept_rank) {
        if (const Slot* slot = dependents.at({type.type, i}); slot && slot->pod)
            if (const PodRecord& pod = *slot->pod; pod.runs())
                seen.push_back({{facts.name_of(type.type), i, kept_rank}, address_of(pod)});
    };
    for (const TypeFacts& type : facts.types) {
        if (const Members* members = dependents.members(type.type))
            for (auto id = members->ids().next(0); id >= 0; id = members->ids().next(id + 1))
                look_at(type, id, members->kept_rank(id));
        else
            for (std::int32_t i = 0; i < type.wanted; ++i) look_at(type, i, std::nullopt);
    }
    return seen;
}

bool shows_otherwise(const PodPtr* before, const PodPtr* after) {
    const bool ran = before && (*before)->runs();
    const bool runs = after && (*after)->runs();
    if (ran != runs) return true;
    return runs &&
           ((*before)->slot != (*after)->slot || address_of(**before) != address_of(**after));
}

}  // namespace muster::operators
