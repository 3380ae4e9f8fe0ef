#include <fmt/format.h>

#include <map>
#include <optional>

#include "apiserver_http/internal/printing/cell_text.h"
#include "apiserver_http/internal/printing/fields.h"
#include "apiserver_http/internal/printing/printer.h"
#include "kube/values/time.h"

namespace muster::apiserver_http {

namespace {

std::string termination_text(const json::object& terminated) {
    if (const std::string_view reason = string_at(terminated, "reason"); !reason.empty())
        return std::string(reason);
    if (const std::int64_t signal = number_at(terminated, "signal"); signal != 0)
        return fmt::format("Signal:{}", signal);
    return fmt::format("ExitCode:{}", number_at(terminated, "exitCode"));
}

/// How often containers were restarted, and when one of them ended last.
struct Restarts {
    std::int64_t count = 0;
    std::optional<WallTime> last;

    void add(const json::object& container) {
        count += number_at(container, "restartCount");
        const json::object& ended = child(child(container, "lastState"), "terminated");
        const std::optional<WallTime> at = kube::parse_time(string_at(ended, "finishedAt"));
        if (at && (!last || *last < *at)) last = at;
    }

    std::string text(WallTime now) const {
        if (count == 0 || !last) return fmt::format("{}", count);
        return fmt::format("{} ({} ago)", count, duration_text(span_between(*last, now)));
    }
};

/// The containers' part of a pod's row. It is about the init containers until those are done, then
/// about the others.
struct Summary {
    std::string reason;
    std::int64_t ready = 0;
    std::int64_t total = 0;
    Restarts restarts;
};

/// Walks the init containers in order up to the first that is not done; nothing if all are. `index`
/// is that container's.
std::optional<std::string> init_problem(const json::object& container, bool sidecar,
                                        std::size_t index, std::size_t count) {
    const json::object& state = child(container, "state");
    const json::object* ended = object_at(state, "terminated");
    if (ended != nullptr && number_at(*ended, "exitCode") == 0) return std::nullopt;
    if (sidecar && bool_at(container, "started")) return std::nullopt;
    if (ended != nullptr) return "Init:" + termination_text(*ended);
    const std::string_view waiting = string_at(child(state, "waiting"), "reason");
    if (!waiting.empty() && waiting != "PodInitializing") return fmt::format("Init:{}", waiting);
    return fmt::format("Init:{}/{}", index, count);
}

/// The main containers' part. The first container takes precedence.
void summarize_main(const json::object& status, Summary& summary) {
    bool running = false;
    std::string failure;
    const auto containers = objects_at(status, "containerStatuses");
    for (auto it = containers.rbegin(); it != containers.rend(); ++it) {
        const json::object& container = **it;
        const json::object& state = child(container, "state");
        summary.restarts.add(container);
        const std::string_view waiting = string_at(child(state, "waiting"), "reason");
        const json::object* ended = object_at(state, "terminated");
        if (!waiting.empty()) {
            summary.reason = waiting;
        } else if (ended != nullptr) {
            summary.reason = termination_text(*ended);
            if (number_at(*ended, "exitCode") != 0) failure = summary.reason;
        } else if (bool_at(container, "ready") && object_at(state, "running") != nullptr) {
            running = true;
            ++summary.ready;
        }
    }
    if (summary.reason != "Completed") return;
    if (running && has_true_condition(status, "Ready")) {
        summary.reason = "Running";
    } else if (!failure.empty()) {
        summary.reason = failure;
    } else if (running) {
        summary.reason = "NotReady";
    }
}

Summary summarize(const json::object& pod) {
    const json::object& spec = child(pod, "spec");
    const json::object& status = child(pod, "status");
    Summary summary;
    summary.reason = or_else(string_at(status, "reason"), string_at(status, "phase"));
    for (const json::object* condition : objects_at(status, "conditions"))
        if (string_at(*condition, "type") == "PodScheduled" &&
            string_at(*condition, "reason") == "SchedulingGated")
            summary.reason = "SchedulingGated";

    std::map<std::string_view, bool> is_sidecar;
    const auto init_containers = objects_at(spec, "initContainers");
    summary.total = static_cast<std::int64_t>(objects_at(spec, "containers").size());
    for (const json::object* container : init_containers) {
        const bool sidecar = string_at(*container, "restartPolicy") == "Always";
        is_sidecar[string_at(*container, "name")] = sidecar;
        summary.total += sidecar ? 1 : 0;
    }

    Restarts of_sidecars;
    bool initializing = false;
    std::size_t index = 0;
    for (const json::object* container : objects_at(status, "initContainerStatuses")) {
        const bool sidecar = is_sidecar[string_at(*container, "name")];
        summary.restarts.add(*container);
        if (sidecar) of_sidecars.add(*container);
        if (auto problem = init_problem(*container, sidecar, index, init_containers.size())) {
            summary.reason = *std::move(problem);
            initializing = true;
            break;
        }
        const bool ended = object_at(child(*container, "state"), "terminated") != nullptr;
        if (sidecar && !ended && bool_at(*container, "ready")) ++summary.ready;
        ++index;
    }
    if (!initializing || has_true_condition(status, "Initialized")) {
        summary.restarts = of_sidecars;
        summarize_main(status, summary);
    }

    const std::string_view phase = string_at(status, "phase");
    if (is_deleting(pod)) {
        if (string_at(status, "reason") == "NodeLost")
            summary.reason = "Unknown";
        else if (phase != "Succeeded" && phase != "Failed")
            summary.reason = "Terminating";
    }
    return summary;
}

std::string first_address(const json::object& status) {
    const auto addresses = objects_at(status, "podIPs");
    return or_else(addresses.empty() ? "" : string_at(*addresses.front(), "ip"),
                   apiserver::kNoneText);
}

std::string readiness_gates(const json::object& spec, const json::object& status) {
    const auto gates = objects_at(spec, "readinessGates");
    if (gates.empty()) return std::string(apiserver::kNoneText);
    std::size_t open = 0;
    for (const json::object* gate : gates)
        if (has_true_condition(status, string_at(*gate, "conditionType"))) ++open;
    return fmt::format("{}/{}", open, gates.size());
}

constexpr Column kPodColumns[] = {
    kNameColumn,
    {"Ready", "string", "", "How many of the containers are ready."},
    {"Status", "string", "", "What the pod as a whole is doing."},
    {"Restarts", "string", "", "How often its containers were started again, and when last."},
    kAgeColumn,
    {"IP", "string", "", "The pod's first address; none before it has one.", 1},
    {"Node", "string", "", "Where the pod was bound to.", 1},
    {"Nominated Node", "string", "", "Where room is being made for it.", 1},
    {"Readiness Gates", "string", "", "How many of its extra readiness conditions hold.", 1},
};

json::array pod_cells(const json::object& pod, WallTime now) {
    const json::object& spec = child(pod, "spec");
    const json::object& status = child(pod, "status");
    const Summary summary = summarize(pod);
    return {name_of(pod),
            fmt::format("{}/{}", summary.ready, summary.total),
            summary.reason,
            summary.restarts.text(now),
            age_of(pod, now),
            first_address(status),
            or_else(string_at(spec, "nodeName"), apiserver::kNoneText),
            or_else(string_at(status, "nominatedNodeName"), apiserver::kNoneText),
            readiness_gates(spec, status)};
}

constexpr Printer kPodPrinters[] = {{"pods", kPodColumns, pod_cells}};

}  // namespace

std::span<const Printer> pod_printers() { return kPodPrinters; }

}  // namespace muster::apiserver_http
