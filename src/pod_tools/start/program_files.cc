#include "pod_tools/start/program_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <memory>

#include "pod_tools/start/python_words.h"
#include "pod_tools/start/search_path.h"

namespace muster::pod_tools {

namespace {

struct Freed {
    void operator()(char* text) const { std::free(text); }
};

/// Empty if there is no such file.
std::string without_links(const std::string& path) {
    const std::unique_ptr<char, Freed> found(::realpath(path.c_str(), nullptr));
    return found == nullptr ? std::string() : std::string(found.get());
}

}  // namespace

bool is_start_program(const std::string& path) {
    return file_name(without_links(path)) == kStartName;
}

std::string own_folder(std::span<const std::string> called) {
    for (const std::string& path : called) {
        const std::string found = without_links(path);
        if (file_name(found) == kStartName) return std::string(folder_of(found));
    }
    return {};
}

bool is_program(const std::string& path) {
    struct stat file{};
    return ::stat(path.c_str(), &file) == 0 && S_ISREG(file.st_mode) &&
           ::access(path.c_str(), X_OK) == 0;
}

bool is_interpreter(const std::string& path) {
    if (!is_python(without_links(path))) return false;
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return true;  // may be executed, and not read
    std::array<char, 2> first{};
    const bool script =
        ::read(file, first.data(), first.size()) == 2 && first[0] == '#' && first[1] == '!';
    ::close(file);
    return !script;
}

}  // namespace muster::pod_tools
