#include "cli/internal/logs/log_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "base/lower_case.h"
#include "base/parse_number.h"
#include "jobs/kind.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

using kube::string_at;

std::optional<int> rank_variable(const json::object& pod) {
    const json::object* spec = kube::object_at(pod, "spec");
    const json::array* containers = spec == nullptr ? nullptr : kube::array_at(*spec, "containers");
    if (containers == nullptr) return std::nullopt;
    for (const json::value& container : *containers) {
        const json::object* one = container.if_object();
        const json::array* variables = one == nullptr ? nullptr : kube::array_at(*one, "env");
        if (variables == nullptr) continue;
        for (const json::value& item : *variables)
            if (const json::object* variable = item.if_object();
                variable != nullptr && string_at(*variable, "name") == "RANK")
                return parse_number<int>(string_at(*variable, "value"));
    }
    return std::nullopt;
}

/// Types with a single replica that lead the others.
bool leads(std::string_view type) {
    return type == "master" || type == "chief" || type == "launcher" || type == "scheduler";
}

/// Instances of the container that have run or are running.
int started(const ContainerView& container) {
    const bool ever = container.running || container.terminated || container.last_terminated;
    // A restart counts once it has begun, so not yet while the container waits for it.
    return ever ? container.restarts + 1 : 0;
}

/// nullopt if its program has run; empty if nothing says why not.
std::optional<std::string> why_not_started(const PodView& pod, const ContainerView& container) {
    constexpr std::string_view kStartError = "StartError";
    const std::optional<TerminationView>& end =
        container.terminated ? container.terminated : container.last_terminated;
    if (end) return end->reason == kStartError ? std::optional(end->message) : std::nullopt;
    if (container.running || container.restarts > 0) return std::nullopt;
    if (!pod.scheduled && !pod.not_scheduled.empty()) return pod.not_scheduled;
    for (const ContainerView& other : pod.containers) {
        // A sidecar that runs, whatever was before, holds up no one.
        if (!other.init || (other.sidecar && other.running)) continue;
        if (other.running) return fmt::format("its init container {} runs", other.name);
        const std::optional<TerminationView>& ended =
            other.terminated ? other.terminated : other.last_terminated;
        if (ended && ended->exit_code != 0)
            return fmt::format("its {} {} {}", other.sidecar ? "sidecar" : "init container",
                               other.name, describe(*ended));
    }
    const std::string waits = join_reason(container.waiting_reason, container.waiting_message);
    return waits.empty() ? join_reason(pod.reason, pod.message) : waits;
}

bool chosen(const LogPod& pod, int position, const LogChoice& choice) {
    if (!choice.replica.empty() && pod.view.replica_type != lower_case(choice.replica))
        return false;
    return !choice.rank || pod.rank.value_or(position) == *choice.rank;
}

}  // namespace

bool comes_before(const LogPod& a, const LogPod& b) {
    return std::tuple(!leads(a.view.replica_type), a.view.replica_type, a.index, a.view.name) <
           std::tuple(!leads(b.view.replica_type), b.view.replica_type, b.index, b.view.name);
}

const ContainerView* LogPod::container(std::string_view name) const {
    for (const auto* some : {&view.containers, &ephemeral})
        if (const auto found = std::ranges::find(*some, name, &ContainerView::name);
            found != some->end())
            return &*found;
    return nullptr;
}

LogPod log_pod(const json::value& object) {
    LogPod pod;
    if (std::optional<PodView> view = pod_view(object)) pod.view = *std::move(view);
    const json::object* root = object.if_object();
    if (root == nullptr) return pod;
    pod.rank = rank_variable(*root);
    pod.ephemeral = ephemeral_container_views(object);
    if (const json::object* labels = kube::object_at(kube::metadata_of(*root), "labels")) {
        pod.job = string_at(*labels, jobs::labels::kJobName);
        pod.index = parse_number<int>(string_at(*labels, jobs::labels::kReplicaIndex)).value_or(0);
    }
    return pod;
}

std::vector<LogSource> choose_sources(std::vector<LogPod> pods, const LogChoice& choice) {
    std::ranges::sort(pods, comes_before);
    std::vector<LogSource> sources;
    int position = 0;
    for (const LogPod& pod : pods) {
        if (!chosen(pod, position++, choice)) continue;
        const auto wanted = [&](const ContainerView& container) {
            return choice.container.empty() ? !container.init : container.name == choice.container;
        };
        const bool several = std::ranges::count_if(pod.view.containers, wanted) > 1;
        const auto add = [&](const ContainerView& container) {
            sources.push_back({pod.view.namespace_, pod.view.name, pod.view.uid, container.name,
                               pod.view.name + (several ? "/" + container.name : std::string()),
                               started(container)});
        };
        for (const ContainerView& container : pod.view.containers)
            if (wanted(container)) add(container);
        for (const ContainerView& container : pod.ephemeral)
            if (container.name == choice.container) add(container);
    }
    return sources;
}

std::string nothing_chosen(const std::vector<LogPod>& pods, const LogChoice& choice) {
    if (pods.empty()) return "it has no pods, and no log of one was kept";
    std::set<std::string> types;
    std::set<std::string> containers;
    for (const LogPod& pod : pods) {
        if (!pod.view.replica_type.empty()) types.insert(pod.view.replica_type);
        for (const ContainerView& container : pod.view.containers)
            containers.insert(container.name);
        for (const ContainerView& container : pod.ephemeral) containers.insert(container.name);
    }
    if (!choice.replica.empty() && !types.contains(lower_case(choice.replica)))
        return fmt::format("there is no replica of type {}; there are: {}", choice.replica,
                           fmt::join(types, ", "));
    if (choice.rank)
        return fmt::format("no pod has rank {}; there {} {} pod{}", *choice.rank,
                           pods.size() == 1 ? "is" : "are", pods.size(),
                           pods.size() == 1 ? "" : "s");
    if (!choice.container.empty() && !containers.contains(choice.container))
        return fmt::format("there is no container {}; there are: {}", choice.container,
                           fmt::join(containers, ", "));
    const std::string why = why_none_started(pods, choice);
    return why.empty() ? "none of its containers has started" : why;
}

std::string why_none_started(const std::vector<LogPod>& pods, const LogChoice& choice) {
    std::string first;
    for (const LogSource& source : choose_sources(pods, choice)) {
        const auto pod = std::ranges::find(pods, source.pod_uid,
                                           [](const LogPod& each) { return each.view.uid; });
        if (pod == pods.end()) continue;
        const ContainerView* const container = pod->container(source.container);
        if (container == nullptr) continue;
        const std::optional<std::string> why = why_not_started(pod->view, *container);
        if (!why) return {};
        if (first.empty())
            first = fmt::format("pod {} has not started{}", pod->view.name,
                                why->empty() ? "" : ": " + *why);
    }
    return first;
}

}  // namespace muster::cli
