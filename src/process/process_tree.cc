#include "process/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

namespace muster::process {

namespace {

struct Process {
    pid_t pid = 0;
    pid_t parent = 0;
    pid_t group = 0;
};

pid_t take_number(std::string_view& text) {
    pid_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, value);
    text.remove_prefix(static_cast<std::size_t>(after - text.data()));
    if (!text.empty()) text.remove_prefix(1);
    return error == std::errc() ? value : 0;
}

/// "" for a process that is gone.
std::string_view read_stat(pid_t pid, std::array<char, 1024>& buffer) {
    std::array<char, 32> path{"/proc/"};
    char* const end = std::to_chars(path.data() + 6, path.data() + 20, pid).ptr;
    std::memcpy(end, "/stat", 6);
    const int file = ::open(path.data(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    const ssize_t size = ::read(file, buffer.data(), buffer.size());
    ::close(file);
    return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

/// Every process on the machine.
std::vector<Process> all_processes() {
    std::vector<Process> found;
    DIR* directory = ::opendir("/proc");
    if (directory == nullptr) return found;
    std::array<char, 1024> buffer;
    while (const dirent* entry = ::readdir(directory)) {
        std::string_view name(entry->d_name);
        const pid_t pid = take_number(name);
        if (pid <= 0) continue;
        std::string_view stat = read_stat(pid, buffer);
        // "pid (name) state ppid pgrp": the name may hold anything, so count from its end.
        const std::size_t name_end = stat.rfind(") ");
        if (name_end == stat.npos || stat.size() < name_end + 5) continue;
        stat.remove_prefix(name_end + 4);
        const pid_t parent = take_number(stat);
        found.push_back({pid, parent, take_number(stat)});
    }
    ::closedir(directory);
    return found;
}

/// Those of them below `root`.
std::vector<Process> below(pid_t root) {
    std::vector<Process> all = all_processes();
    std::ranges::sort(all, {}, &Process::parent);
    std::vector<Process> found;
    auto add_children = [&](pid_t parent) {
        for (const Process& child : std::ranges::equal_range(all, parent, {}, &Process::parent))
            found.push_back(child);
    };
    add_children(root);
    // The list may change while it is read: no process twice.
    for (std::size_t i = 0; i < found.size() && found.size() <= all.size(); ++i)
        add_children(found[i].pid);
    return found;
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t root) {
    std::vector<pid_t> pids;
    for (const Process& process : below(root)) pids.push_back(process.pid);
    return pids;
}

bool kill_descendants_once() {
    const std::vector<Process> found = below(::getpid());
    const pid_t own = ::getpgrp();
    std::vector<pid_t> groups;
    for (const Process& process : found)
        if (process.group != own && process.group > 0) groups.push_back(process.group);
    std::ranges::sort(groups);
    const auto same = std::ranges::unique(groups);
    groups.erase(same.begin(), same.end());
    for (const pid_t group : groups) ::kill(-group, SIGKILL);
    for (const Process& process : found) ::kill(process.pid, SIGKILL);
    return !found.empty();
}

void kill_descendants() {
    for (;;) {
        const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
        if (pid > 0) continue;
        if (pid < 0 && errno == ECHILD) return;
        kill_descendants_once();
        while (::waitpid(-1, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
}

}  // namespace muster::process
