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
    for (const TypeFacts& type : facts.types)
        for (std::int32_t i = 0; i < type.wanted; ++i)
            if (const Slot* slot = dependents.at({type.type, i}); slot && slot->pod)
                if (const PodRecord& pod = *slot->pod; pod.runs())
                    seen.push_back({{facts.name_of(type.type), i}, address_of(pod)});
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
