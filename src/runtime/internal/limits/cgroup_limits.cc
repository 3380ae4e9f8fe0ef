#include "runtime/internal/limits/cgroup_limits.h"

#include <algorithm>

#include "kube/values/quantity.h"

namespace muster::runtime {

namespace {

constexpr std::int64_t kPeriodUs = 100'000;
constexpr std::int64_t kMinQuotaUs = 1'000;
constexpr std::int64_t kMinShares = 2;
constexpr std::int64_t kMaxShares = 262'144;
constexpr std::int64_t kSharesPerCpu = 1'024;

Result<std::optional<kube::Quantity>> amount(const kube::ResourceList& list,
                                             const std::string& name) {
    const auto found = list.find(name);
    if (found == list.end()) return std::nullopt;
    TRY(kube::Quantity quantity, kube::Quantity::parse(found->second));
    return std::optional(quantity);
}

/// Without a request the kernel's default stays, so that the pod gets its turn like any program of
/// this machine; a kubelet's minimum share would let all of those go first.
void add_weight(std::vector<CgroupSetting>& settings, std::int64_t milli, CgroupVersion version) {
    if (milli == 0) return;
    const std::int64_t shares = std::clamp(milli * kSharesPerCpu / 1000, kMinShares, kMaxShares);
    if (version == CgroupVersion::kV1)
        return settings.push_back({Controller::kCpu, "cpu.shares", std::to_string(shares)});
    // 2..262144 becomes 1..10000.
    const std::int64_t weight = 1 + (shares - kMinShares) * 9999 / (kMaxShares - kMinShares);
    settings.push_back({Controller::kCpu, "cpu.weight", std::to_string(weight)});
}

}  // namespace

Result<ContainerLimits> limits_of(const kube::Container& container) {
    const kube::ResourceRequirements& resources = container.resources;
    TRY(const auto memory, amount(resources.limits, "memory"));
    TRY(const auto cpu, amount(resources.limits, "cpu"));
    TRY(const auto request, amount(resources.requests, "cpu"));
    ContainerLimits limits;
    // Zero means none, as in a kubelet.
    if (memory && !memory->is_zero()) limits.memory_bytes = memory->ceil_units();
    if (cpu && !cpu->is_zero()) limits.cpu_milli = cpu->ceil_milli();
    limits.cpu_request_milli = request ? request->ceil_milli() : limits.cpu_milli.value_or(0);
    return limits;
}

std::vector<CgroupSetting> container_settings(const ContainerLimits& limits,
                                              CgroupVersion version) {
    const bool v1 = version == CgroupVersion::kV1;
    std::vector<CgroupSetting> settings;
    if (limits.memory_bytes) {
        const std::string bytes = std::to_string(*limits.memory_bytes);
        if (v1) {
            settings.push_back({Controller::kMemory, "memory.limit_in_bytes", bytes});
            // Memory and swap together: no swap. It may not be below the memory limit, so it comes
            // second.
            settings.push_back({Controller::kMemory, "memory.memsw.limit_in_bytes", bytes, false});
        } else {
            settings.push_back({Controller::kMemory, "memory.max", bytes});
            settings.push_back({Controller::kMemory, "memory.swap.max", "0", false});
            // Half a container is of no use.
            settings.push_back({Controller::kMemory, "memory.oom.group", "1", false});
        }
    }
    if (limits.cpu_milli) {
        const std::int64_t quota = std::max(*limits.cpu_milli * kPeriodUs / 1000, kMinQuotaUs);
        if (v1) {
            settings.push_back({Controller::kCpu, "cpu.cfs_period_us", std::to_string(kPeriodUs)});
            settings.push_back({Controller::kCpu, "cpu.cfs_quota_us", std::to_string(quota)});
        } else {
            settings.push_back(
                {Controller::kCpu, "cpu.max", fmt::format("{} {}", quota, kPeriodUs)});
        }
    }
    add_weight(settings, limits.cpu_request_milli, version);
    return settings;
}

std::vector<CgroupSetting> pod_settings(std::int64_t cpu_request_milli, std::int64_t pids,
                                        CgroupVersion version) {
    std::vector<CgroupSetting> settings;
    add_weight(settings, cpu_request_milli, version);
    settings.push_back({Controller::kPids, "pids.max", std::to_string(pids)});
    return settings;
}

PidLimits default_pid_limits(std::int64_t pid_max, std::int64_t threads_max) {
    constexpr std::int64_t kLeast = 256;
    const std::int64_t machine = std::min(pid_max, threads_max);
    return {.pod = std::max(machine / 4, kLeast), .node = std::max(machine / 8 * 7, kLeast)};
}

}  // namespace muster::runtime
