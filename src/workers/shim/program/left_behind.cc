#include "workers/shim/program/left_behind.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "process/process_tree.h"

namespace muster::workers {

namespace {

constexpr std::size_t kMostOfOne = 80;

/// Its words; empty for a process that has ended.
std::string command_line(pid_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/cmdline";
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    char bytes[kMostOfOne];
    const ssize_t size = ::read(file, bytes, sizeof bytes);
    ::close(file);
    std::string text(bytes, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    while (!text.empty() && text.back() == '\0') text.pop_back();
    // Others chose these bytes, and people read them.
    for (char& letter : text)
        if (letter < ' ' || letter == '\x7f') letter = ' ';
    return text;
}

}  // namespace

std::string describe_descendants(std::size_t most) {
    constexpr std::string_view kMore = ", ...";
    std::string all;
    for (const pid_t pid : process::descendants_of(::getpid())) {
        const std::string words = command_line(pid);
        if (words.empty()) continue;
        const std::string one =
            (all.empty() ? "pid " : ", pid ") + std::to_string(pid) + " (" + words + ")";
        if (all.size() + one.size() + kMore.size() > most) return all.append(kMore);
        all += one;
    }
    return all;
}

}  // namespace muster::workers
