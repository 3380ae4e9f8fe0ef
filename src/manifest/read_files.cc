#include "manifest/read_files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "manifest/old_versions.h"

namespace muster::manifest {

namespace {

/// How much is read of a file before it is refused for its size.
constexpr std::size_t kReadLimit = 64 * kMaxManifestBytes;

}  // namespace

Result<std::string> read_file(const std::string& file) {
    int descriptor = file == "-" ? ::dup(STDIN_FILENO) : ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return system_error("cannot be read", errno);
    std::string text;
    std::string piece(65536, '\0');
    while (text.size() < kReadLimit) {
        ssize_t got = ::read(descriptor, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            Error error = system_error("cannot be read", errno);
            ::close(descriptor);
            return error;
        }
        if (got == 0) break;
        text.append(piece, 0, static_cast<std::size_t>(got));
    }
    ::close(descriptor);
    return text;
}

Manifest read_files_as_written(const std::vector<std::string>& files) {
    Manifest all;
    for (const std::string& file : files) {
        Result<std::string> text = read_file(file);
        if (!text) {
            Problem& problem = all.problems.emplace_back();
            problem.source = file;
            problem.message = text.error().message();
            continue;
        }
        Manifest manifest = read_manifest(*text, file);
        std::ranges::move(manifest.documents, std::back_inserter(all.documents));
        std::ranges::move(manifest.problems, std::back_inserter(all.problems));
    }
    return all;
}

Manifest read_manifest_files(const std::vector<std::string>& files) {
    Manifest all = read_files_as_written(files);
    read_old_versions(all.documents, all.problems);
    return all;
}

}  // namespace muster::manifest
