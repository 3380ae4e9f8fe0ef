#include "workloads/internal/deployments/rollout_limits.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/parse_number.h"
#include "kube/values/json_access.h"

namespace muster::workloads {

namespace {

std::int64_t scaled(const json::object& rolling, std::string_view key, std::int64_t replicas,
                    bool up) {
    if (const auto number = kube::int_at(rolling, key)) return std::max<std::int64_t>(*number, 0);
    std::string_view text = kube::string_at(rolling, key);
    if (!text.ends_with('%')) return 0;
    text.remove_suffix(1);
    const std::int64_t percent =
        std::clamp<std::int64_t>(parse_number<std::int64_t>(text).value_or(0), 0, 1'000'000);
    return (percent * replicas + (up ? 99 : 0)) / 100;
}

}  // namespace

RolloutLimits rollout_limits(const json::object& deployment_spec, std::int64_t replicas) {
    const json::object& strategy = kube::child(deployment_spec, "strategy");
    if (kube::string_at(strategy, "type") == "Recreate") return {};
    const json::object& rolling = kube::child(strategy, "rollingUpdate");
    RolloutLimits limits{scaled(rolling, "maxSurge", replicas, true),
                         scaled(rolling, "maxUnavailable", replicas, false)};
    // A small share may be rounded to nothing.
    if (limits.surge == 0 && limits.unavailable == 0) limits.unavailable = 1;
    limits.unavailable = std::min(limits.unavailable, replicas);
    return limits;
}

std::int64_t proportional_size(std::int64_t size, std::int64_t after, std::int64_t before) {
    const double exact =
        static_cast<double>(size) * static_cast<double>(after) / static_cast<double>(before);
    return static_cast<std::int64_t>(exact < 0 ? exact - 0.5 : exact + 0.5);
}

}  // namespace muster::workloads
