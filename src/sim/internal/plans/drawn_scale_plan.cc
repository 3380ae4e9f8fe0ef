#include "sim/internal/plans/drawn_scale_plan.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace muster::sim {

namespace {

constexpr std::string_view kType = "worker";
/// Of the pods that a plan asks for; the numbers of nodes that agents are told allow no more.
constexpr std::uint64_t kMostPlanned = 4;
/// No job comes so far.
constexpr int kNoWorker = 9999;
constexpr std::string_view kPast = "2000-01-01T00:00:00Z";

json::object number(std::int64_t workers) {
    return {{"replicaResourceSpecs", {{kType, {{"replicas", workers}}}}}};
}

/// By its name, or by its type and id.
json::object named(const WorkerPod& pod, Rng& rng) {
    if (rng.chance(0.5)) return {{"name", pod.name}};
    return {{"type", kType}, {"id", pod.id}};
}

/// One of them, or two.
json::array some(const std::vector<WorkerPod>& workers, Rng& rng) {
    const std::size_t first = rng.below(workers.size());
    const std::size_t second = rng.below(workers.size());
    json::array pods{named(workers[first], rng)};
    if (second != first && rng.chance(0.3)) pods.push_back(named(workers[second], rng));
    return pods;
}

/// One of the nodes that every world has: it is left out, or taken back.
json::object excluded(Rng& rng) {
    json::object node{{"node", "node-0"}};
    if (rng.chance(0.5)) node["until"] = kPast;
    return {{"excludedNodes", json::array{std::move(node)}}};
}

/// With memory of its own, now and then.
json::object new_pod(Rng& rng) {
    json::object pod{{"type", kType}};
    if (rng.chance(0.3)) pod["resource"] = {{"memory", "4Gi"}};
    return pod;
}

json::object draw_change(const std::vector<WorkerPod>& workers, Rng& rng) {
    const auto wanted = static_cast<std::int64_t>(1 + rng.below(kMostPlanned));
    const std::uint64_t which = rng.below(12);
    if (which == 0)
        return {{"removePods", json::array{json::object{{"type", kType}, {"id", kNoWorker}}}}};
    if (which == 1) return excluded(rng);
    if (workers.empty() || which < 5) return number(wanted);
    if (which == 5 && workers.size() < kMostPlanned)
        return {{"createPods", json::array{new_pod(rng)}}};
    if (which < 8) return {{"removePods", some(workers, rng)}};
    if (which >= 10) return {{"migratePods", some(workers, rng)}};
    json::object fewer = number(wanted);
    fewer["sparePods"] = some(workers, rng);
    return fewer;
}

}  // namespace

json::object draw_scale_plan(const std::string& job, const std::vector<WorkerPod>& workers,
                             Rng& rng) {
    json::object spec = draw_change(workers, rng);
    spec["ownerJob"] = job;
    return spec;
}

}  // namespace muster::sim
