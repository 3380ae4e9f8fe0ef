#include "runtime/internal/usage/usage_sample.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace muster::runtime {

namespace {

constexpr Duration kLeast = std::chrono::seconds(1);
constexpr Duration kMost = std::chrono::seconds(60);

/// Billionths of a processor; counters that the kernel keeps in several places may seem to go back.
std::int64_t rate(Duration used, Duration window) {
    const double share =
        std::chrono::duration<double>(used) / std::chrono::duration<double>(window);
    return std::max<std::int64_t>(0, static_cast<std::int64_t>(share * 1e9));
}

}  // namespace

bool is_good_start(const UsageSample& sample, Instant now) {
    return now - sample.at >= kLeast && now - sample.at <= kMost;
}

kube::NodeUsage usage_between(const UsageSample& from, const UsageSample& to, std::string node) {
    const Duration window = to.at - from.at;
    std::map<std::tuple<std::string, std::uint32_t>, Duration> before;
    for (const UsageSample::Container& container : from.containers)
        before.emplace(std::tuple(container.uid, container.run), container.cpu);
    kube::NodeUsage usage{.node = std::move(node),
                          .at = to.wall,
                          .window = window,
                          .machine = {.cpu_nanos = rate(to.busy - from.busy, window),
                                      .memory_bytes = to.memory_in_use},
                          .pods = {}};
    for (const UsageSample::Container& container : to.containers) {
        if (usage.pods.empty() || usage.pods.back().uid != container.uid)
            usage.pods.push_back({.namespace_ = container.namespace_,
                                  .name = container.pod,
                                  .uid = container.uid,
                                  .containers = {}});
        const auto found = before.find(std::tuple(container.uid, container.run));
        const Duration used = found == before.end() ? container.cpu : container.cpu - found->second;
        usage.pods.back().containers.push_back(
            {.name = container.name,
             .usage = {.cpu_nanos = rate(used, window), .memory_bytes = container.memory_bytes}});
    }
    return usage;
}

}  // namespace muster::runtime
