#include "process/program_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/unique_fd.h"

namespace muster::process {

namespace {

/// The interpreter in a script's first line; "" if it has none.
std::string interpreter_of(const std::string& path) {
    UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) return {};
    std::array<char, 256> buffer;
    ssize_t size = ::read(file.get(), buffer.data(), buffer.size());
    if (size < 2) return {};
    std::string_view line(buffer.data(), static_cast<std::size_t>(size));
    if (!line.starts_with("#!")) return {};
    line =
        line.substr(2, line.find('\n') == std::string_view::npos ? line.npos : line.find('\n') - 2);
    std::size_t begin = line.find_first_not_of(" \t");
    if (begin == line.npos) return {};
    line.remove_prefix(begin);
    return std::string(line.substr(0, line.find_first_of(" \t")));
}

}  // namespace

std::vector<std::string> program_candidates(std::string_view name, std::string_view path) {
    if (name.empty()) return {};
    if (name.find('/') != name.npos) return {std::string(name)};
    std::vector<std::string> candidates;
    for (;;) {
        std::size_t colon = path.find(':');
        std::string candidate(path.substr(0, colon));
        if (!candidate.empty()) candidate += '/';
        candidate += name;
        candidates.push_back(std::move(candidate));
        if (colon == path.npos) return candidates;
        path.remove_prefix(colon + 1);
    }
}

ProgramFailure diagnose_program(const std::vector<std::string>& candidates, std::string_view name,
                                int error) {
    for (const std::string& candidate : candidates) {
        struct stat info{};
        if (::stat(candidate.c_str(), &info) < 0) continue;
        if (S_ISDIR(info.st_mode)) {
            if (candidates.size() > 1) continue;
            return {ProgramFault::kNotExecutable, EISDIR, candidate};
        }
        if (::access(candidate.c_str(), X_OK) < 0)
            return {ProgramFault::kNotExecutable, EACCES, candidate};
        std::string interpreter = interpreter_of(candidate);
        if (error == 0 || error == ENOENT || error == EACCES || error == ENOTDIR) {
            if (!interpreter.empty() && ::access(interpreter.c_str(), X_OK) < 0)
                return {ProgramFault::kInterpreterMissing, errno, interpreter};
            // A binary whose dynamic loader is not here.
            if (interpreter.empty() && error == ENOENT)
                return {ProgramFault::kInterpreterMissing, error, "the loader of " + candidate};
        }
        if (error == ENOEXEC) return {ProgramFault::kFormat, error, candidate};
        return {ProgramFault::kOther, error, candidate};
    }
    if (error == ENOENT || error == ENOTDIR || error == 0)
        return {ProgramFault::kMissing, ENOENT, std::string(name)};
    return {ProgramFault::kOther, error, std::string(name)};
}

std::string path_of(const std::vector<std::string>& environment) {
    for (const std::string& entry : environment)
        if (entry.starts_with("PATH=")) return entry.substr(5);
    return "/usr/local/bin:/usr/bin:/bin";
}

}  // namespace muster::process
