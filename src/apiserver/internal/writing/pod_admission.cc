#include "apiserver/internal/writing/pod_admission.h"

#include <fmt/format.h>

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

constexpr std::size_t kMostLimitBytes = std::size_t{3} * 1024 * 1024;

bool is_claim(const Target& target) {
    return target.def->storage_key() == "persistentvolumeclaims";
}

}  // namespace

bool is_pod(const Target& target) { return target.def->storage_key() == "pods"; }

Surroundings surroundings_of(const ServerState& state, const Target& target,
                             const json::object& object) {
    Surroundings around;
    if (!is_pod(target) && !is_claim(target)) return around;
    const auto [first, last] = state.cache.range("limitranges", target.namespace_);
    for (auto range = first; range != last; ++range) around.ranges.push_back(range->second.tree());
    if (!is_pod(target)) return around;
    std::string name(string_at(child(object, "spec"), "priorityClassName"));
    if (name.empty()) name = state.default_class.name();
    around.priority.emplace();
    if (name.empty()) return around;
    const CachedObject* found = state.cache.find(kPriorityClasses, "", name);
    if (found != nullptr)
        around.priority = priority_of(found->tree()->get_object());
    else if (state.options.priority_classes)
        around.missing_class = std::move(name);
    return around;
}

StatusResult<void> admit_pod(const Target& target, json::object& pod,
                             const Surroundings& surroundings) {
    if (!is_pod(target)) return {};
    if (!set_limit_defaults(pod, surroundings.ranges, kMostLimitBytes))
        return Error(Code::kTooLarge,
                     "the object would be larger than 3 MiB, with the defaults of its LimitRanges");
    if (!surroundings.missing_class.empty())
        return forbidden(
            target.type(), name_of(pod),
            fmt::format("no PriorityClass with name {} was found", surroundings.missing_class));
    if (!surroundings.priority) return {};
    const std::string problem = give_priority(pod, *surroundings.priority);
    if (!problem.empty()) return forbidden(target.type(), name_of(pod), problem);
    return {};
}

}  // namespace muster::apiserver
