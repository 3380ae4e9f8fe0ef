#include "master/node_check/check_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace muster::master {
namespace {

constexpr std::size_t kMostRows = 32;

double in_microseconds(Duration duration) {
    return std::chrono::duration<double, std::micro>(duration).count();
}

std::string cell(std::optional<double> value, double unit) {
    return value ? fmt::format("{:.2f}", *value / unit) : "-";
}

/// The rows to show, in their order: only the slowest if there are too many.
template <class Speed>
std::vector<std::size_t> told(std::vector<std::size_t> rows, Speed speed) {
    if (rows.size() <= kMostRows) return rows;
    std::ranges::sort(rows, {}, [&](std::size_t row) { return std::pair(speed(row), row); });
    rows.resize(kMostRows);
    std::ranges::sort(rows);
    return rows;
}

void add_rest(std::vector<Notice>& lines, std::size_t all, std::string_view what) {
    if (all > kMostRows)
        lines.push_back({.text = fmt::format("  and {} faster {}", all - kMostRows, what)});
}

void add_nodes(const NodeCheck& check, std::vector<Notice>& lines) {
    std::vector<std::size_t> measured;
    for (std::size_t i = 0; i < check.nodes().size(); ++i)
        if (check.is_there(i) && check.figures_of(i) != nullptr) measured.push_back(i);
    if (measured.empty()) return;
    lines.push_back({.text = fmt::format("  {:<32} {:>10} {:>12} {:>16}", "node", "GFLOP/s",
                                         "memory GB/s", "best link MB/s")});
    for (const std::size_t node :
         told(measured, [&](std::size_t i) { return check.figures_of(i)->flops; })) {
        const CheckResult& figures = *check.figures_of(node);
        lines.push_back(
            {.text = fmt::format("  {:<32} {:>10} {:>12} {:>16}", check.name_of(node),
                                 cell(figures.flops, 1e9), cell(figures.memory_bytes, 1e9),
                                 cell(check.best_link(node), 1e6))});
    }
    add_rest(lines, measured.size(), "nodes");
}

void add_links(const NodeCheck& check, std::vector<Notice>& lines) {
    std::vector<std::size_t> measured;
    for (std::size_t i = 0; i < check.links().size(); ++i)
        if (check.links()[i].works()) measured.push_back(i);
    if (measured.empty()) return;
    lines.push_back({.text = fmt::format("  {:<56} {:>14} {:>10} {:>10}", "link", "round trip us",
                                         "out MB/s", "in MB/s")});
    for (const std::size_t at :
         told(measured, [&](std::size_t i) { return check.links()[i].bytes(); })) {
        const CheckedLink& link = check.links()[at];
        lines.push_back(
            {.text = fmt::format("  {:<56} {:>14.1f} {:>10} {:>10}",
                                 check.name_of(link.from) + " to " + check.name_of(link.to),
                                 in_microseconds(link.figures->round_trip),
                                 cell(link.figures->bytes_out, 1e6),
                                 cell(link.figures->bytes_in, 1e6))});
    }
    add_rest(lines, measured.size(), "links");
}

}  // namespace

std::vector<Notice> check_table(const NodeCheck& check) {
    std::vector<Notice> lines;
    lines.push_back({.text = fmt::format("node check: {} node{} in {:.2f} s; {} faulty, {} slow",
                                         check.nodes().size(), check.nodes().size() == 1 ? "" : "s",
                                         std::chrono::duration<double>(check.took()).count(),
                                         check.faulty().size(), check.slow().size())});
    for (const NodeCheck::Named& named : check.faulty())
        lines.push_back({.warns = true,
                         .text = fmt::format("node check: {} is faulty: {}",
                                             check.name_of(named.node), named.why)});
    for (const NodeCheck::Named& named : check.slow())
        lines.push_back(
            {.warns = true,
             .text = fmt::format("node check: {} is slow{}: {}", check.name_of(named.node),
                                 check.options().exclude_slow
                                     ? ""
                                     : " and stays (--exclude-straggler leaves such nodes out)",
                                 named.why)});
    for (const std::string& remark : check.remarks())
        lines.push_back({.warns = true, .text = "node check: " + remark});
    add_nodes(check, lines);
    if (check.options().thorough) add_links(check, lines);
    return lines;
}

}  // namespace muster::master
