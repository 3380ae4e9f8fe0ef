#include "runtime/internal/usage/process_table.h"

#include <dirent.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/parse_number.h"

namespace muster::runtime {

namespace {

/// For files in /proc, whose size is unknown beforehand; "" if the process is gone.
std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The number after "NAME:", in kB as in these files; 0 if there is no such line.
std::int64_t kilobytes(std::string_view text, std::string_view name) {
    while (!text.empty()) {
        std::string_view line = take_field(text, '\n');
        if (take_field(line, ':') != name) continue;
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        return parse_number<std::int64_t>(take_field(line, ' ')).value_or(0);
    }
    return 0;
}

Duration from_ticks(std::uint64_t ticks) {
    static const long kTicksPerSecond = ::sysconf(_SC_CLK_TCK);
    return std::chrono::nanoseconds(static_cast<std::int64_t>(ticks) *
                                    (1'000'000'000 / kTicksPerSecond));
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view line) {
    // The name of the program comes first, in brackets, and may contain anything.
    const std::size_t name_end = line.rfind(") ");
    if (name_end == line.npos) return std::nullopt;
    line.remove_prefix(name_end + 2);
    // The third field and those that follow it.
    std::vector<std::string_view> fields;
    while (!line.empty() && fields.size() < 15) fields.push_back(take_field(line, ' '));
    if (fields.size() < 15) return std::nullopt;
    const auto parent = parse_number<pid_t>(fields[1]);
    const auto user = parse_number<std::uint64_t>(fields[11]);
    const auto system = parse_number<std::uint64_t>(fields[12]);
    const auto waited_user = parse_number<std::uint64_t>(fields[13]);
    const auto waited_system = parse_number<std::uint64_t>(fields[14]);
    if (!parent || !user || !system || !waited_user || !waited_system) return std::nullopt;
    return ProcessStat{.parent = *parent,
                       .own_ticks = *user + *system,
                       .waited_ticks = *waited_user + *waited_system};
}

std::int64_t parse_memory(std::string_view status) {
    return 1024 * (kilobytes(status, "RssAnon") + kilobytes(status, "RssShmem"));
}

std::uint64_t parse_busy_ticks(std::string_view stat) {
    std::string_view line = take_field(stat, '\n');
    if (take_field(line, ' ') != "cpu") return 0;
    std::uint64_t busy = 0;
    // user nice system idle iowait irq softirq steal; the time of guests is in `user` already.
    for (int field = 0; field < 8 && !line.empty();) {
        const std::string_view text = take_field(line, ' ');
        if (text.empty()) continue;
        if (field != 3 && field != 4) busy += parse_number<std::uint64_t>(text).value_or(0);
        ++field;
    }
    return busy;
}

std::int64_t parse_memory_in_use(std::string_view meminfo) {
    return 1024 * (kilobytes(meminfo, "MemTotal") - kilobytes(meminfo, "MemAvailable"));
}

ProcessTable read_process_table() {
    ProcessTable table;
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir("/proc"), ::closedir);
    if (!directory) return table;
    while (const dirent* entry = ::readdir(directory.get())) {  // NOLINT(concurrency-mt-unsafe)
        const auto pid = parse_number<pid_t>(entry->d_name);
        if (!pid) continue;
        if (const auto stat = parse_process_stat(content(fmt::format("/proc/{}/stat", *pid))))
            table.emplace(*pid, *stat);
    }
    return table;
}

TreeUsage usage_of_tree(const ProcessTable& table, pid_t root) {
    std::multimap<pid_t, pid_t> children;
    for (const auto& [pid, stat] : table) children.emplace(stat.parent, pid);
    TreeUsage usage;
    std::vector<pid_t> left{root};
    while (!left.empty()) {
        const pid_t pid = left.back();
        left.pop_back();
        const auto found = table.find(pid);
        if (found == table.end()) continue;
        usage.cpu += from_ticks(found->second.own_ticks + found->second.waited_ticks);
        usage.memory_bytes += parse_memory(content(fmt::format("/proc/{}/status", pid)));
        const auto [begin, end] = children.equal_range(pid);
        for (auto it = begin; it != end; ++it) left.push_back(it->second);
    }
    return usage;
}

Duration busy_time_of_machine() { return from_ticks(parse_busy_ticks(content("/proc/stat"))); }

std::int64_t memory_in_use_of_machine() { return parse_memory_in_use(content("/proc/meminfo")); }

pid_t process_of(int pidfd) {
    const std::string text = content(fmt::format("/proc/self/fdinfo/{}", pidfd));
    std::string_view rest = text;
    while (!rest.empty()) {
        std::string_view line = take_field(rest, '\n');
        if (take_field(line, '\t') == "Pid:")
            return std::max(parse_number<pid_t>(line).value_or(0), 0);
    }
    return 0;
}

}  // namespace muster::runtime
