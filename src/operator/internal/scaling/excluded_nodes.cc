#include "operator/internal/scaling/excluded_nodes.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/values/name_syntax.h"
#include "kube/values/time.h"

namespace muster::operators {
namespace {

bool counts(const jobs::ExcludedNode& one, WallTime now) {
    if (one.node.empty() || !kube::label_value_problem(one.node).empty()) return false;
    if (one.until.empty()) return true;
    const std::optional<WallTime> until = kube::parse_time(one.until);
    return until && now < *until;
}

}  // namespace

std::vector<jobs::ExcludedNode> excluded_after(const std::vector<jobs::ExcludedNode>& before,
                                               const std::vector<jobs::ExcludedNode>& asked,
                                               WallTime now) {
    std::vector<jobs::ExcludedNode> all = before;
    for (const jobs::ExcludedNode& one : asked) {
        const auto known = std::ranges::find(all, one.node, &jobs::ExcludedNode::node);
        // What is asked once more is not newer for that.
        if (known != all.end() && *known == one) continue;
        if (known != all.end()) all.erase(known);
        all.push_back(one);
    }
    std::erase_if(all, [&](const jobs::ExcludedNode& one) { return !counts(one, now); });
    if (all.size() > jobs::kMostExcludedNodes)
        all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(jobs::kMostExcludedNodes));
    return all;
}

std::vector<jobs::ExcludedNode> excluded_now(const std::optional<jobs::ExecutedPlan>& plan,
                                             WallTime now) {
    if (!plan || plan->excluded_nodes.empty()) return {};
    return excluded_after(plan->excluded_nodes, {}, now);
}

std::string names_of(const std::vector<jobs::ExcludedNode>& nodes) {
    constexpr std::size_t kMostNamed = 5;
    std::string text;
    for (std::size_t i = 0; i < nodes.size() && i < kMostNamed; ++i) {
        text += fmt::format("{}{}", i == 0 ? "" : ", ", nodes[i].node);
        if (!nodes[i].until.empty()) text += fmt::format(" (until {})", nodes[i].until);
    }
    if (nodes.size() > kMostNamed) text += fmt::format(" and {} more", nodes.size() - kMostNamed);
    return text;
}

}  // namespace muster::operators
