#include "runtime/internal/inside/process_tree.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string>
#include <vector>

#include "base/fields.h"
#include "runtime/internal/text_files.h"

namespace muster::runtime {

namespace {

pid_t number_at(std::string_view text) {
    pid_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

/// For kernels without a list of children: reads every process's parent.
std::vector<pid_t> children_by_scan() {
    std::vector<pid_t> children;
    DIR* processes = ::opendir("/proc");
    if (processes == nullptr) return children;
    while (const dirent* entry = ::readdir(processes)) {
        const pid_t pid = number_at(entry->d_name);
        if (pid <= 0) continue;
        auto stat = read_text(fmt::format("/proc/{}/stat", pid));
        // "pid (name) state ppid": the name may hold anything, so count from its end.
        const std::size_t name_end = stat ? stat->rfind(')') : std::string::npos;
        if (name_end == std::string::npos || stat->size() < name_end + 4) continue;
        if (number_at(std::string_view(*stat).substr(name_end + 4)) == ::getpid())
            children.push_back(pid);
    }
    ::closedir(processes);
    return children;
}

std::vector<pid_t> children_of_this_process() {
    auto text = read_text("/proc/thread-self/children");  // needs CONFIG_PROC_CHILDREN
    if (!text) return children_by_scan();
    std::vector<pid_t> children;
    for (std::string_view left = *text; !left.empty();)
        if (const pid_t pid = number_at(take_field(left, ' ')); pid > 0) children.push_back(pid);
    return children;
}

}  // namespace

void kill_descendants() {
    // Killing only our children converges: their children become ours. A tree that forks faster
    // than it is killed needs CgroupEntry::stop() before, or its PID namespace's end.
    for (;;) {
        const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
        if (pid > 0) continue;
        if (pid < 0 && errno == ECHILD) return;
        for (const pid_t child : children_of_this_process()) ::kill(child, SIGKILL);
        while (::waitpid(-1, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
}

}  // namespace muster::runtime
