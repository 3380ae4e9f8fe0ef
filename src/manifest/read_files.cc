#include "manifest/read_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "manifest/old_versions.h"

namespace muster::manifest {

namespace {

/// How much is read of a file before it is refused for its size.
constexpr std::size_t kReadLimit = 64 * kMaxManifestBytes;

/// What to do with a program that was named in place of a manifest; empty for anything else.
std::string advice_for_program(const std::string& file, std::string_view text) {
    if (file.ends_with(".py"))
        return fmt::format(
            "this is a Python program, not a manifest: 'muster run {0}' runs it as a job, "
            "and 'muster init {0}' writes the job's manifest",
            file);
    if (file.ends_with(".ipynb"))
        return "this is a notebook, not a manifest: a job's container runs programs, such as "
               "python -m jupyter execute";
    if (file.ends_with(".sh") || text.starts_with("#!") ||
        text.starts_with("\x7F"
                         "ELF"))
        return "this is a program, not a manifest: 'muster run' runs it as a job if it may be "
               "executed, or name it "
               "in the command of a job's container";
    return {};
}

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
        if (std::string advice = advice_for_program(file, *text); !advice.empty()) {
            Problem& problem = all.problems.emplace_back();
            problem.source = file;
            problem.message = std::move(advice);
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
