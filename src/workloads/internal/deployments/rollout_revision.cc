#include "workloads/internal/deployments/rollout_revision.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "kube/values/json_access.h"

namespace muster::workloads {

namespace {

constexpr std::size_t kLongestHistory = 2000;
constexpr std::string_view kNotCopied[] = {"kubectl.kubernetes.io/last-applied-configuration",
                                           kRevisionKey,
                                           kRevisionHistoryKey,
                                           kDesiredReplicasKey,
                                           kMaxReplicasKey,
                                           "deprecated.deployment.rollback.to"};

}  // namespace

std::int64_t highest_revision(const std::vector<RolloutSet*>& sets) {
    std::int64_t highest = 0;
    for (const RolloutSet* set : sets) highest = std::max(highest, set->revision());
    return highest;
}

void raise_revision(RolloutSet& set, std::int64_t revision) {
    const std::string before(set.annotation(kRevisionKey));
    if (set.revision() >= revision) return;
    set.annotate(kRevisionKey, fmt::format("{}", revision));
    if (before.empty()) return;
    std::string history(set.annotation(kRevisionHistoryKey));
    if (!history.empty()) history += ',';
    history += before;
    while (history.size() > kLongestHistory) {
        const std::size_t comma = history.find(',');
        if (comma == history.npos) return;
        history.erase(0, comma + 1);
    }
    set.annotate(kRevisionHistoryKey, history);
}

void copy_annotations(const json::object& deployment, RolloutSet& set) {
    for (const auto& [key, value] : kube::child(kube::metadata_of(deployment), "annotations"))
        if (value.is_string() &&
            std::ranges::find(kNotCopied, std::string_view(key)) == std::end(kNotCopied))
            set.annotate(key, value.get_string());
}

}  // namespace muster::workloads
