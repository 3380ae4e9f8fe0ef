#include "launch/topology.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <map>

#include "base/fields.h"
#include "base/parse_number.h"
#include "base/text_files.h"

namespace muster::launch {

namespace {

namespace fs = std::filesystem;

std::optional<std::int64_t> number(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    if (text.starts_with("0x")) return parse_number<std::int64_t>(text.substr(2), 16);
    return parse_number<std::int64_t>(text);
}

std::string content(const fs::path& path) {
    auto text = read_text(path.string());
    return text ? *std::move(text) : std::string();
}

/// The entries of a directory named `prefix` plus a number.
std::map<std::uint32_t, fs::path> numbered(const fs::path& directory, std::string_view prefix) {
    std::map<std::uint32_t, fs::path> found;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
        const std::string name = entry.path().filename();
        if (!name.starts_with(prefix)) continue;
        if (const auto id = number(std::string_view(name).substr(prefix.size())); id && *id >= 0)
            found.emplace(static_cast<std::uint32_t>(*id), entry.path());
    }
    return found;
}

std::uint32_t lowest(const std::string& list, std::uint32_t otherwise) {
    const std::set<std::uint32_t> cpus = parse_cpu_list(list);
    return cpus.empty() ? otherwise : *cpus.begin();
}

/// The lowest CPU of those that share the last-level cache with this one.
std::optional<std::uint32_t> last_cache(const fs::path& cpu) {
    std::int64_t highest = 0;
    std::optional<std::uint32_t> found;
    for (const auto& [index, path] : numbered(cpu / "cache", "index")) {
        const auto level = number(content(path / "level"));
        const std::set<std::uint32_t> shared = parse_cpu_list(content(path / "shared_cpu_list"));
        if (!level || *level <= highest || shared.empty()) continue;
        highest = *level;
        found = *shared.begin();
    }
    return found;
}

/// Accelerators in the order of their bus addresses, which is the order of their numbers.
std::vector<std::optional<std::uint32_t>> read_devices(const fs::path& sysfs) {
    std::vector<fs::path> cards;
    std::error_code error;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(sysfs / "bus/pci/devices", error)) {
        const auto vendor = number(content(entry.path() / "vendor"));
        const auto kind = number(content(entry.path() / "class"));
        if (!vendor || !kind) continue;
        const std::int64_t base_and_sub = *kind >> 8;
        // NVIDIA, AMD and MetaX: display controllers, 3D controllers, and processing accelerators.
        const bool maker = *vendor == 0x10de || *vendor == 0x1002 || *vendor == 0x9999;
        if (maker && (base_and_sub == 0x0300 || base_and_sub == 0x0302 || base_and_sub == 0x0380 ||
                      base_and_sub == 0x1200))
            cards.push_back(entry.path());
    }
    std::ranges::sort(cards);
    std::vector<std::optional<std::uint32_t>> nodes;
    for (const fs::path& card : cards) {
        const auto node = number(content(card / "numa_node"));
        nodes.push_back(node && *node >= 0 ? std::optional(static_cast<std::uint32_t>(*node))
                                           : std::nullopt);
    }
    return nodes;
}

}  // namespace

std::set<std::uint32_t> parse_cpu_list(std::string_view text) {
    std::set<std::uint32_t> cpus;
    while (!text.empty()) {
        std::string_view range = take_field(text, ',');
        const auto first = number(take_field(range, '-'));
        const auto last = range.empty() ? first : number(range);
        if (!first || !last || *first < 0 || *last < *first || *last > 65'535) continue;
        for (std::int64_t cpu = *first; cpu <= *last; ++cpu)
            cpus.insert(static_cast<std::uint32_t>(cpu));
    }
    return cpus;
}

std::string to_cpu_list(const std::vector<std::uint32_t>& cpus) {
    std::string text;
    for (std::size_t i = 0; i < cpus.size();) {
        std::size_t last = i;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
        text += fmt::format("{}{}", text.empty() ? "" : ",", cpus[i]);
        if (last > i) text += fmt::format("-{}", cpus[last]);
        i = last + 1;
    }
    return text;
}

std::set<std::uint32_t> allowed_cpus() {
    cpu_set_t set[8];
    CPU_ZERO_S(sizeof set, set);
    std::set<std::uint32_t> cpus;
    if (::sched_getaffinity(0, sizeof set, set) < 0) return cpus;
    for (std::uint32_t cpu = 0; cpu < 8 * CPU_SETSIZE; ++cpu)
        if (CPU_ISSET_S(cpu, sizeof set, set)) cpus.insert(cpu);
    return cpus;
}

Result<Topology> read_topology(const std::filesystem::path& sysfs,
                               const std::set<std::uint32_t>& allowed) {
    const fs::path root = sysfs / "devices/system";
    std::map<std::uint32_t, std::uint32_t> node_of;
    for (const auto& [node, path] : numbered(root / "node", "node"))
        for (const std::uint32_t cpu : parse_cpu_list(content(path / "cpulist")))
            node_of.emplace(cpu, node);
    Topology topology;
    for (const auto& [id, path] : numbered(root / "cpu", "cpu")) {
        if (!allowed.contains(id)) continue;
        Cpu cpu{.id = id, .core = id};
        if (const auto node = node_of.find(id); node != node_of.end()) cpu.node = node->second;
        const auto socket = number(content(path / "topology/physical_package_id"));
        cpu.socket = socket && *socket >= 0 ? static_cast<std::uint32_t>(*socket) : 0;
        cpu.core = lowest(content(path / "topology/thread_siblings_list"), id);
        cpu.cache = last_cache(path).value_or(0);
        topology.cpus.push_back(cpu);
    }
    if (topology.cpus.empty())
        return Error(Code::kUnsupported,
                     fmt::format("{} lists no processor that this process may run on",
                                 (root / "cpu").string()));
    topology.devices = read_devices(sysfs);
    return topology;
}

}  // namespace muster::launch
