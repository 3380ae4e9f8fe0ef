#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace muster::launch {

/// A CPU that this process may run on.
struct Cpu {
    std::uint32_t id = 0;
    std::uint32_t node = 0;  ///< NUMA node
    std::uint32_t socket = 0;
    std::uint32_t core = 0;   ///< the lowest CPU of the same physical core
    std::uint32_t cache = 0;  ///< the lowest CPU that shares its last-level cache

    friend bool operator==(const Cpu&, const Cpu&) = default;
};

/// What placement needs to know of this machine. A value.
struct Topology {
    std::vector<Cpu> cpus = {};  ///< by id
    /// The NUMA node of each accelerator, by the accelerator's number; nullopt if the machine does
    /// not report it.
    std::vector<std::optional<std::uint32_t>> devices = {};

    friend bool operator==(const Topology&, const Topology&) = default;
};

/// From a sysfs tree, only for CPUs in `allowed`. What a machine does not report counts as one: one
/// node, one socket, one cache, cores with one CPU each.
Result<Topology> read_topology(const std::filesystem::path& sysfs,
                               const std::set<std::uint32_t>& allowed);
/// The CPUs that this process may run on.
std::set<std::uint32_t> allowed_cpus();

/// "0-3,8", the kernel's format for lists; parts that are not numbers are skipped.
std::set<std::uint32_t> parse_cpu_list(std::string_view text);
/// The inverse, for people.
std::string to_cpu_list(const std::vector<std::uint32_t>& cpus);

}  // namespace muster::launch
