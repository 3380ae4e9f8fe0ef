#include "sim/internal/pod_report.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "kube/values/time.h"

namespace muster::sim {

namespace {

std::string host_address(int node) {
    return fmt::format("192.168.{}.{}", (node >> 8) & 0xff, node & 0xff);
}

json::object terminated(const ContainerEnd& end) {
    return {{"exitCode", end.exit_code},
            {"reason", end.reason},
            {"startedAt", kube::format_time(end.started_at)},
            {"finishedAt", kube::format_time(end.finished_at)}};
}

json::object container_state(const PodReport& report) {
    switch (report.state) {
        case PodReport::State::kWaiting:
            return {{"waiting", {{"reason", "ContainerCreating"}}}};
        case PodReport::State::kRunning:
            return {{"running", {{"startedAt", kube::format_time(report.started_at)}}}};
        case PodReport::State::kBackingOff:
            return {{"waiting", {{"reason", "CrashLoopBackOff"}}}};
        case PodReport::State::kEnded:
            return {{"terminated", terminated(*report.end)}};
    }
    return {};
}

json::array container_statuses(const json::array& containers, const PodReport& report) {
    const bool running = report.state == PodReport::State::kRunning;
    json::array made;
    made.reserve(containers.size());
    for (const json::value& container : containers) {
        json::object status;
        status.reserve(8);
        status["name"] = container.at("name");
        if (const json::value* image = container.get_object().if_contains("image")) {
            status["image"] = *image;
            status["imageID"] = *image;
        }
        status["restartCount"] = report.restarts;
        status["ready"] = running;
        status["started"] = running;
        status["state"] = container_state(report);
        if (report.last != nullptr)
            status["lastState"] = {{"terminated", terminated(*report.last)}};
        made.push_back(std::move(status));
    }
    return made;
}

/// They are done at once when the pod starts.
json::array init_container_statuses(const json::array& containers, const PodReport& report) {
    const ContainerEnd done{.exit_code = 0,
                            .reason = "Completed",
                            .started_at = report.accepted_at,
                            .finished_at = report.accepted_at};
    json::array made;
    for (const json::value& container : containers)
        made.push_back({{"name", container.at("name")},
                        {"restartCount", 0},
                        {"ready", true},
                        {"state", {{"terminated", terminated(done)}}}});
    return made;
}

json::object condition(std::string_view type, bool status, const std::string& since) {
    return {{"type", type}, {"status", status ? "True" : "False"}, {"lastTransitionTime", since}};
}

}  // namespace

std::string pod_address(std::uint64_t number) {
    return fmt::format("10.{}.{}.{}", (number >> 16) & 0xff, (number >> 8) & 0xff, number & 0xff);
}

std::string node_name(int node) { return fmt::format("node-{}", node); }

json::object make_pod_status(const json::object& spec, const PodReport& report) {
    const bool ended = report.state == PodReport::State::kEnded;
    json::object status;
    status.reserve(8);
    if (report.evicted) {
        status["phase"] = "Failed";
        status["reason"] = "Evicted";
        status["message"] = "The node was low on resource: memory.";
        status["containerStatuses"] = nullptr;
        return status;
    }
    status["phase"] = ended ? (report.end->exit_code == 0 ? "Succeeded" : "Failed")
                      : report.state == PodReport::State::kWaiting ? "Pending"
                                                                   : "Running";
    status["hostIP"] = host_address(report.node);
    status["startTime"] = kube::format_time(report.accepted_at);
    const bool ready = report.state == PodReport::State::kRunning;
    if (report.state != PodReport::State::kWaiting) status["podIP"] = pod_address(report.address);
    const std::string accepted = kube::format_time(report.accepted_at);
    const std::string changed = ready                   ? kube::format_time(report.started_at)
                                : report.end != nullptr ? kube::format_time(report.end->finished_at)
                                                        : accepted;
    status["conditions"] = json::array{
        condition("Initialized", true, accepted), condition("Ready", ready, changed),
        condition("ContainersReady", ready, changed), condition("PodScheduled", true, accepted)};
    const json::value* init = spec.if_contains("initContainers");
    if (init != nullptr && report.state != PodReport::State::kWaiting)
        status["initContainerStatuses"] = init_container_statuses(init->as_array(), report);
    status["containerStatuses"] = container_statuses(spec.at("containers").as_array(), report);
    return status;
}

}  // namespace muster::sim
