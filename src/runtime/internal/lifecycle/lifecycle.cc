#include "runtime/internal/lifecycle/lifecycle.h"

#include "base/signal_name.h"

namespace muster::runtime {

namespace {

std::optional<std::int64_t> number_of(const json::object& fields, std::string_view name) {
    const json::value* value = fields.if_contains(name);
    return value != nullptr && value->is_int64() ? std::optional(value->get_int64()) : std::nullopt;
}

Result<std::optional<ProbeSpec>> read_probe(const kube::Container& container,
                                            std::string_view name) {
    const json::value* value = container.rest.if_contains(name);
    if (value == nullptr || !value->is_object()) return std::optional<ProbeSpec>();
    const json::object& fields = value->get_object();
    ProbeSpec probe;
    const std::string where = fmt::format("container {}: {}", container.name, name);
    TRY(probe.handler, read_handler(fields, container, where));
    const auto positive = [&](std::string_view field, std::int64_t fallback) {
        const std::int64_t given = number_of(fields, field).value_or(0);
        return given > 0 ? given : fallback;
    };
    using std::chrono::seconds;
    probe.timing.initial_delay = seconds(positive("initialDelaySeconds", 0));
    probe.timing.period = seconds(positive("periodSeconds", 10));
    probe.timing.timeout = seconds(positive("timeoutSeconds", 1));
    probe.timing.success_threshold = static_cast<int>(positive("successThreshold", 1));
    probe.timing.failure_threshold = static_cast<int>(positive("failureThreshold", 3));
    if (auto grace = number_of(fields, "terminationGracePeriodSeconds"))
        probe.grace = seconds(*grace);
    return std::optional(std::move(probe));
}

Result<std::optional<Handler>> read_hook(const kube::Container& container,
                                         const json::object& lifecycle, std::string_view name) {
    const json::value* value = lifecycle.if_contains(name);
    if (value == nullptr || !value->is_object()) return std::optional<Handler>();
    TRY(Handler handler,
        read_handler(value->get_object(), container,
                     fmt::format("container {}: lifecycle.{}", container.name, name)));
    return std::optional(std::move(handler));
}

}  // namespace

std::string_view hook_name(HookKind kind) {
    return kind == HookKind::kPostStart ? "PostStart" : "PreStop";
}

const ProbeSpec& ContainerLifecycle::probe(ProbeKind kind) const {
    switch (kind) {
        case ProbeKind::kStartup:
            return *startup;
        case ProbeKind::kLiveness:
            return *liveness;
        case ProbeKind::kReadiness:
            break;
    }
    return *readiness;
}

ProbeTimings ContainerLifecycle::timings() const {
    const auto timing = [](const std::optional<ProbeSpec>& probe) {
        return probe ? std::optional(probe->timing) : std::nullopt;
    };
    return {
        .startup = timing(startup), .liveness = timing(liveness), .readiness = timing(readiness)};
}

Result<ContainerLifecycle> read_lifecycle(const kube::Container& container) {
    ContainerLifecycle made;
    TRY(made.startup, read_probe(container, "startupProbe"));
    TRY(made.liveness, read_probe(container, "livenessProbe"));
    TRY(made.readiness, read_probe(container, "readinessProbe"));
    const json::value* value = container.rest.if_contains("lifecycle");
    if (value == nullptr || !value->is_object()) return made;
    const json::object& lifecycle = value->get_object();
    TRY(made.post_start, read_hook(container, lifecycle, "postStart"));
    TRY(made.pre_stop, read_hook(container, lifecycle, "preStop"));
    if (const json::value* name = lifecycle.if_contains("stopSignal");
        name != nullptr && name->is_string()) {
        const std::optional<int> signal = signal_by_name(name->get_string());
        if (!signal)
            return Error(Code::kInvalid,
                         fmt::format("container {}: lifecycle.stopSignal {} is not the name of a "
                                     "signal, like SIGTERM",
                                     container.name, std::string_view(name->get_string())));
        made.stop_signal = *signal;
    }
    return made;
}

Result<std::vector<ContainerLifecycle>> read_lifecycles(const kube::PodSpec& spec) {
    std::vector<ContainerLifecycle> all;
    for (const auto* containers : {&spec.init_containers, &spec.containers}) {
        for (const kube::Container& container : *containers) {
            TRY(ContainerLifecycle one, read_lifecycle(container));
            all.push_back(std::move(one));
        }
    }
    return all;
}

}  // namespace muster::runtime
