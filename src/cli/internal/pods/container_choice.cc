#include "cli/internal/pods/container_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/lower_case.h"
#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

constexpr std::string_view kDefaultContainer = "kubectl.kubernetes.io/default-container";

using Pods = std::vector<const ReachablePod*>;

std::string replica_of(const LogPod& pod) {
    return pod.view.replica_type.empty() ? pod.view.name
                                         : fmt::format("{}-{}", pod.view.replica_type, pod.index);
}

bool is_meant(const LogPod& pod, int position, const ContainerChoice& choice) {
    if (choice.rank && pod.rank.value_or(position) != *choice.rank) return false;
    const std::string wanted = lower_case(choice.replica);
    return wanted.empty() || wanted == replica_of(pod) || wanted == pod.view.replica_type ||
           wanted == pod.view.name;
}

std::string listed_replicas(const std::vector<ReachablePod>& pods) {
    constexpr std::size_t kMostNames = 20;
    std::vector<std::string> names;
    for (const ReachablePod& each : pods) names.push_back(replica_of(each.pod));
    const std::size_t more = names.size() > kMostNames ? names.size() - kMostNames : 0;
    names.resize(names.size() - more);
    return fmt::format("{}{}", fmt::join(names, ", "),
                       more == 0 ? "" : fmt::format(" and {} more", more));
}

/// The container's name; the error says why it does not run.
Result<std::string> container_of(const ReachablePod& from, const std::string& wanted) {
    const PodView& pod = from.pod.view;
    const ContainerView* found =
        from.pod.container(wanted.empty() ? from.default_container : wanted);
    const auto take_first = [&](const auto& first) {
        if (found == nullptr && wanted.empty() && first != pod.containers.end()) found = &*first;
    };
    take_first(std::ranges::find_if(pod.containers, &ContainerView::main));
    take_first(std::ranges::find_if_not(pod.containers, &ContainerView::init));
    if (found == nullptr) {
        std::vector<std::string> names;
        for (const auto* some : {&pod.containers, &from.pod.ephemeral})
            for (const ContainerView& container : *some) names.push_back(container.name);
        return Error(Code::kNotFound, fmt::format("pod {} has no container \"{}\"; it has: {}",
                                                  pod.name, wanted, fmt::join(names, ", ")));
    }
    if (found->running) return found->name;
    const std::string why =
        why_none_started({from.pod}, {.rank = {}, .replica = {}, .container = found->name});
    if (!why.empty()) return Error(Code::kInvalid, why);
    return Error(
        Code::kInvalid,
        fmt::format("container {} of pod {} does not run{}", found->name, pod.name,
                    found->terminated ? fmt::format(": it {}", describe(*found->terminated)) : ""));
}

std::string note_of(const ReachablePod& chosen, const std::string& container,
                    const ContainerChoice& choice, std::size_t alive, std::string_view subject) {
    std::string note;
    if (alive > 1 && !choice.rank)
        note = fmt::format("in pod {}, one of {}; {}/REPLICA or --rank N names another",
                           chosen.pod.view.name, alive, subject);
    const std::vector<ContainerView>& all = chosen.pod.view.containers;
    if (choice.container.empty() && std::ranges::count(all, false, &ContainerView::init) > 1)
        note +=
            fmt::format("{}in container {}; -c names another", note.empty() ? "" : ", ", container);
    return note;
}

}  // namespace

ReachablePod reachable_pod(const json::value& object) {
    ReachablePod pod{.pod = log_pod(object), .default_container = {}};
    if (const json::object* root = object.if_object())
        pod.default_container = kube::string_at(
            kube::child(kube::metadata_of(*root), "annotations"), kDefaultContainer);
    return pod;
}

Result<ChosenContainer> choose_container(std::vector<ReachablePod> pods,
                                         const ContainerChoice& choice, std::string_view subject) {
    if (pods.empty())
        return Error(Code::kNotFound, fmt::format("{} has no pod that could be reached", subject));
    std::ranges::sort(pods, comes_before, &ReachablePod::pod);
    Pods meant;
    for (std::size_t i = 0; i < pods.size(); ++i)
        if (is_meant(pods[i].pod, static_cast<int>(i), choice)) meant.push_back(&pods[i]);
    if (meant.empty())
        return Error(Code::kNotFound,
                     fmt::format("{} has no replica {}; it has: {}", subject,
                                 choice.rank ? fmt::format("of rank {}", *choice.rank)
                                             : fmt::format("\"{}\"", choice.replica),
                                 listed_replicas(pods)));
    Pods alive;
    for (const ReachablePod* each : meant)
        if (!each->pod.view.finished()) alive.push_back(each);
    if (alive.empty())
        return Error(Code::kInvalid,
                     fmt::format("pod {} has ended ({}); 'muster logs' shows what it wrote",
                                 meant.front()->pod.view.name, meant.front()->pod.view.phase));
    std::optional<Error> first;
    for (const ReachablePod* each : alive) {
        const Result<std::string> container = container_of(*each, choice.container);
        if (container)
            return ChosenContainer{each->pod.view.namespace_, each->pod.view.name, *container,
                                   note_of(*each, *container, choice, alive.size(), subject)};
        if (!first) first = container.error();
    }
    return *std::move(first);
}

}  // namespace muster::cli
