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

/// One processor that this process may run on.
struct Cpu {
    std::uint32_t id = 0;
    std::uint32_t node = 0;  ///< of memory
    std::uint32_t socket = 0;
    std::uint32_t core = 0;   ///< the lowest processor of the same physical core
    std::uint32_t cache = 0;  ///< the lowest processor that shares its last-level cache

    friend bool operator==(const Cpu&, const Cpu&) = default;
};

/// This machine, as far as workers are placed by it. A value.
struct Topology {
    std::vector<Cpu> cpus = {};  ///< by id
    /// Of each accelerator, in the order in which they are numbered: the node it hangs on, or
    /// nothing where the machine does not say.
    std::vector<std::optional<std::uint32_t>> devices = {};

    friend bool operator==(const Topology&, const Topology&) = default;
};

/// From a sysfs tree, for processors in `allowed` alone. What a machine does not tell counts as one
/// of it: one node, one socket, one cache, cores of one processor.
Result<Topology> read_topology(const std::filesystem::path& sysfs,
                               const std::set<std::uint32_t>& allowed);
/// Those that this process may run on.
std::set<std::uint32_t> allowed_cpus();

/// "0-3,8" as the kernel writes lists; what is no number is left out.
std::set<std::uint32_t> parse_cpu_list(std::string_view text);
/// The other way round, for people.
std::string to_cpu_list(const std::vector<std::uint32_t>& cpus);

}  // namespace muster::launch
