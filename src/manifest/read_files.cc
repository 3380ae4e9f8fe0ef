#include "manifest/read_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "manifest/old_versions.h"
#include "manifest/yaml/yaml_text.h"

namespace muster::manifest {

namespace fs = std::filesystem;

namespace {

/// How much is read of a file before it is refused for its size.
constexpr std::size_t kReadLimit = 2 * kMaxStreamBytes;
/// Of a directory; more are no manifests that someone means to run together.
constexpr std::size_t kMostFiles = 10'000;

/// What to do with a program that was named in place of a manifest; empty for anything else.
std::string advice_for_program(const std::string& file, std::string_view text) {
    if (file.ends_with(".py"))
        return fmt::format(
            "this is a Python program, not a manifest: 'muster run {0}' runs it as a job, "
            "and 'muster init {0}' writes the job's manifest",
            file);
    if (file.ends_with(".ipynb"))
        return fmt::format(
            "this is a notebook, not a script: 'jupyter nbconvert --to script {0}.ipynb' makes "
            "one, "
            "and 'muster run {0}.py' runs it as a job. Take out what only a notebook understands: "
            "get_ipython(), and lines that begin with % or !",
            file.substr(0, file.size() - std::string_view(".ipynb").size()));
    if (file.ends_with(".sh") || text.starts_with("#!") ||
        text.starts_with("\x7F"
                         "ELF"))
        return "this is a program, not a manifest: 'muster run' runs it as a job if it may be "
               "executed, or name it "
               "in the command of a job's container";
    return {};
}

/// What was probably meant by a file that is not there: people leave the ending out, or write another one.
std::string near_file(const std::string& file) {
    std::error_code failed;
    if (file == "-" || fs::exists(file, failed)) return {};
    const std::string stem = fs::path(file).replace_extension().string();
    for (const char* ending : {".py", ".yaml", ".yml", ".json"})
        for (const std::string& meant : {file + ending, stem + ending})
            if (fs::is_regular_file(meant, failed)) return fmt::format("; did you mean {}?", meant);
    return {};
}

struct NamedFile {
    std::string path;
    bool of_directory = false;
};

bool is_manifest_name(const fs::path& path) {
    const fs::path extension = path.extension();
    return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

/// The manifests of a directory, as sorted paths.
Result<std::vector<std::string>> files_of(const std::string& directory, Directories directories) {
    std::vector<std::string> found;
    std::error_code failed;
    const auto take = [&](const fs::directory_entry& entry) {
        std::error_code ignored;
        if (is_manifest_name(entry.path()) && !entry.is_directory(ignored))
            found.push_back(entry.path().string());
        return found.size() <= kMostFiles;
    };
    if (directories == Directories::kRecursive) {
        for (fs::recursive_directory_iterator at(directory, failed), end; !failed && at != end;
             at.increment(failed))
            if (!take(*at)) break;
    } else {
        for (fs::directory_iterator at(directory, failed), end; !failed && at != end;
             at.increment(failed))
            if (!take(*at)) break;
    }
    if (failed) return system_error("cannot be read", failed.value());
    if (found.size() > kMostFiles)
        return Error(
            Code::kInvalid,
            fmt::format("it has more than {} manifests: name the ones that are meant", kMostFiles));
    if (found.empty())
        return Error(Code::kInvalid,
                     directories == Directories::kRecursive
                         ? "there is no *.yaml, *.yml or *.json in this directory"
                         : "there is no *.yaml, *.yml or *.json in this directory; -R reads those "
                           "of the directories in it");
    std::ranges::sort(found);
    return found;
}

std::vector<NamedFile> named_files(const std::vector<std::string>& files, Directories directories,
                                   std::vector<Problem>& problems) {
    std::vector<NamedFile> all;
    for (const std::string& file : files) {
        std::error_code failed;
        if (file == "-" || !fs::is_directory(file, failed)) {
            all.push_back({.path = file});
            continue;
        }
        auto found = files_of(file, directories);
        if (!found) {
            Problem& problem = problems.emplace_back();
            problem.source = file;
            problem.message = found.error().message();
            continue;
        }
        for (std::string& path : *found) all.push_back({std::move(path), true});
    }
    return all;
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

Manifest read_files_as_written(const std::vector<std::string>& files, Directories directories) {
    Manifest all;
    for (const NamedFile& named : named_files(files, directories, all.problems)) {
        const std::string& file = named.path;
        Result<std::string> text = read_file(file);
        if (!text) {
            Problem& problem = all.problems.emplace_back();
            problem.source = file;
            problem.message = text.error().message() + near_file(file);
            continue;
        }
        if (std::string advice = advice_for_program(file, *text); !advice.empty()) {
            Problem& problem = all.problems.emplace_back();
            problem.source = file;
            problem.message = std::move(advice);
            continue;
        }
        Manifest manifest = read_manifest(*text, file);
        if (named.of_directory) {
            for (Document& document : manifest.documents) document.of_directory = true;
            // Such as one with comments only.
            if (manifest.documents.empty() && text->size() < kMaxStreamBytes &&
                split_documents(*text).empty())
                continue;
        }
        std::ranges::move(manifest.documents, std::back_inserter(all.documents));
        std::ranges::move(manifest.problems, std::back_inserter(all.problems));
    }
    return all;
}

Manifest read_manifest_files(const std::vector<std::string>& files, Directories directories) {
    Manifest all = read_files_as_written(files, directories);
    read_old_versions(all.documents, all.problems);
    return all;
}

}  // namespace muster::manifest
