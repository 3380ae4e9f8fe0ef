#include "cli/internal/describe/usage.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/values/json_access.h"

namespace muster::cli {

namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;

struct Usage {
    kube::Quantity cpu;
    kube::Quantity memory;
};

kube::Quantity quantity_at(const json::object& resources, std::string_view key) {
    const json::value* value = resources.if_contains(key);
    const auto parsed = value == nullptr ? kube::Quantity() : kube::Quantity::parse(*value);
    return parsed.value_or(kube::Quantity());
}

Usage usage_of(const json::object* resources) {
    if (resources == nullptr) return {};
    return {quantity_at(*resources, "cpu"), quantity_at(*resources, "memory")};
}

std::string cpu_text(const kube::Quantity& cpu) { return fmt::format("{}m", cpu.ceil_milli()); }
std::string memory_text(const kube::Quantity& memory) {
    return fmt::format("{}Mi", memory.ceil_units() / kMebibyte);
}
std::string percent(std::int64_t part, std::int64_t whole) {
    if (whole <= 0) return "<unknown>";
    return fmt::format("{}%", static_cast<std::int64_t>(100.0 * static_cast<double>(part) /
                                                        static_cast<double>(whole)));
}

TableRow row_of(const json::object& object, std::vector<std::string> cells) {
    TableRow row;
    row.namespace_ = kube::namespace_of(object);
    row.name = kube::name_of(object);
    row.cells = {row.name};
    std::ranges::move(cells, std::back_inserter(row.cells));
    return row;
}

/// Adds the rows in the order of their use, the highest first.
void add_sorted(ObjectTable& table, std::vector<std::pair<kube::Quantity, TableRow>> rows) {
    std::ranges::sort(rows, [](const auto& a, const auto& b) {
        return a.first == b.first ? a.second.name < b.second.name : a.first > b.first;
    });
    for (auto& [cpu, row] : rows) table.rows.push_back(std::move(row));
}

}  // namespace

ObjectTable pod_usage(const std::vector<kube::ObjectPtr>& metrics) {
    ObjectTable table;
    table.columns = {{"Name", false}, {"CPU(cores)", false}, {"Memory(bytes)", false}};
    std::vector<std::pair<kube::Quantity, TableRow>> rows;
    for (const kube::ObjectPtr& value : metrics) {
        const json::object* object = value->if_object();
        if (object == nullptr) continue;
        Usage sum;
        if (const json::array* containers = kube::array_at(*object, "containers"))
            for (const json::value& item : *containers)
                if (const json::object* container = item.if_object()) {
                    const Usage own = usage_of(kube::object_at(*container, "usage"));
                    sum = {sum.cpu + own.cpu, sum.memory + own.memory};
                }
        rows.emplace_back(sum.cpu, row_of(*object, {cpu_text(sum.cpu), memory_text(sum.memory)}));
    }
    add_sorted(table, std::move(rows));
    return table;
}

ObjectTable node_usage(const std::vector<kube::ObjectPtr>& metrics,
                       const std::vector<kube::ObjectPtr>& nodes) {
    std::map<std::string, Usage, std::less<>> allocatable;
    for (const kube::ObjectPtr& value : nodes)
        if (const json::object* node = value->if_object())
            if (const json::object* status = kube::object_at(*node, "status"))
                allocatable.emplace(kube::name_of(*node),
                                    usage_of(kube::object_at(*status, "allocatable")));
    ObjectTable table;
    table.columns = {{"Name", false},
                     {"CPU(cores)", false},
                     {"CPU(%)", false},
                     {"Memory(bytes)", false},
                     {"Memory(%)", false}};
    std::vector<std::pair<kube::Quantity, TableRow>> rows;
    for (const kube::ObjectPtr& value : metrics) {
        const json::object* object = value->if_object();
        if (object == nullptr) continue;
        const Usage used = usage_of(kube::object_at(*object, "usage"));
        const auto whole = allocatable.find(kube::name_of(*object));
        const Usage all = whole == allocatable.end() ? Usage() : whole->second;
        rows.emplace_back(
            used.cpu,
            row_of(*object,
                   {cpu_text(used.cpu), percent(used.cpu.ceil_milli(), all.cpu.ceil_milli()),
                    memory_text(used.memory),
                    percent(used.memory.ceil_units(), all.memory.ceil_units())}));
    }
    add_sorted(table, std::move(rows));
    return table;
}

}  // namespace muster::cli
