#include "cli/internal/share/cpu_sets.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>

namespace muster::cli {

namespace {

using Ids = std::vector<std::uint32_t>;

/// Neighbours come one after the other.
std::vector<Ids> cores_of(const launch::Topology& machine) {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Ids> cores;
    for (const launch::Cpu& cpu : machine.cpus)
        cores[{cpu.node, cpu.cache, cpu.core}].push_back(cpu.id);
    std::vector<Ids> in_order;
    for (auto& [place, ids] : cores) in_order.push_back(std::move(ids));
    return in_order;
}

std::vector<Ids> each_alone(const std::vector<Ids>& cores) {
    std::vector<Ids> single;
    for (const Ids& core : cores)
        for (const std::uint32_t id : core) single.push_back({id});
    return single;
}

}  // namespace

std::vector<Ids> split_cpus(const launch::Topology& machine, int processes) {
    const auto wanted = static_cast<std::size_t>(std::max(processes, 0));
    if (wanted < 2) return {};
    std::vector<Ids> pieces = cores_of(machine);
    if (pieces.size() < wanted) pieces = each_alone(pieces);
    if (pieces.size() < wanted) return {};
    std::vector<Ids> sets(wanted);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        Ids& set = sets[i * wanted / pieces.size()];
        set.insert(set.end(), pieces[i].begin(), pieces[i].end());
    }
    for (Ids& set : sets) std::ranges::sort(set);
    return sets;
}

}  // namespace muster::cli
