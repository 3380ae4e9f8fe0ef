#include "workers/worker/orphans.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include "base/fields.h"
#include "base/log.h"
#include "base/text_files.h"
#include "process/process_tree.h"

namespace muster::workers {

namespace {

bool has_entry(std::string_view environment, std::string_view entry) {
    while (!environment.empty())
        if (take_field(environment, '\0') == entry) return true;
    return false;
}

/// A child of ours that has lost its memory and is not a zombie yet.
bool is_dying_child(pid_t pid) {
    const auto stat = read_text(fmt::format("/proc/{}/stat", pid));
    if (!stat) return false;
    // "pid (name) state ppid ...", and as field 23 the size of its memory; the name may contain
    // anything.
    const std::size_t name_end = stat->rfind(") ");
    if (name_end == stat->npos) return false;
    std::string_view rest = std::string_view(*stat).substr(name_end + 2);
    const std::string_view state = take_field(rest, ' ');
    const std::string_view parent = take_field(rest, ' ');
    for (int field = 5; field < 23; ++field) take_field(rest, ' ');
    return state != "Z" && parent == fmt::format("{}", ::getpid()) && take_field(rest, ' ') == "0";
}

}  // namespace

std::vector<UniqueFd> find_orphans(const std::string& environment_entry) {
    std::vector<UniqueFd> found;
    for (const pid_t pid : process::descendants_of(1)) {
        // Opened before the process is examined, so that it refers to this process and not to a
        // later one.
        UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
        if (!process) continue;
        const auto environment = read_text(fmt::format("/proc/{}/environ", pid));
        if (!environment) continue;
        if (environment->empty() ? is_dying_child(pid) : has_entry(*environment, environment_entry))
            found.push_back(std::move(process));
    }
    return found;
}

bool kill_group(const std::string& group) {
    if (group.empty()) return false;
    const UniqueFd file(::open((group + "/cgroup.kill").c_str(), O_WRONLY | O_CLOEXEC));
    if (!file) return false;
    if (::write(file.get(), "1", 1) == 1) return true;
    log::warning("a cgroup could not be killed",
                 {{"group", group}, {"error", ::strerrordesc_np(errno)}});
    return false;
}

bool is_populated(int events) {
    std::array<char, 256> text;
    const ssize_t size = ::pread(events, text.data(), text.size(), 0);
    return size > 0 &&
           std::string_view(text.data(), static_cast<std::size_t>(size)).find("populated 1") !=
               std::string_view::npos;
}

}  // namespace muster::workers
