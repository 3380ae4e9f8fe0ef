#include "cli/internal/pods/copy_words.h"

#include <fmt/format.h>

#include <filesystem>

namespace muster::cli {

namespace {

std::filesystem::path normal(const std::string& path) {
    std::filesystem::path made = std::filesystem::path(path).lexically_normal();
    // "a/" is the directory a.
    return made.has_filename() || !made.has_relative_path() ? made : made.parent_path();
}

CopyEnd copy_end(const std::string& text) {
    const std::size_t colon = text.find(':');
    const bool here = colon == text.npos || colon == 0 || text[0] == '/' || text[0] == '.';
    if (here) return {.pod = {}, .path = text};
    return {.pod = text.substr(0, colon), .path = text.substr(colon + 1)};
}

}  // namespace

Result<CopyWords> parse_copy_words(const std::vector<std::string>& words) {
    if (words.size() != 2)
        return Error(Code::kInvalid,
                     "say from where to where, as in 'muster cp digits/worker-0:/tmp/out ./out'");
    CopyWords copy{.from = copy_end(words[0]), .to = copy_end(words[1])};
    if (copy.from.pod.empty() == copy.to.pod.empty())
        return Error(Code::kInvalid,
                     copy.from.pod.empty()
                         ? "one of the two must be in a pod, as in 'digits/worker-0:/tmp/out'"
                         : "one of the two must be on this machine; one that looks like a pod's is "
                           "written as ./NAME");
    if (copy.from.path.empty() || copy.to.path.empty())
        return Error(Code::kInvalid, "a path is missing behind the colon");
    return copy;
}

RemoteArchive remote_archive(const std::string& path) {
    const std::filesystem::path whole = normal(path);
    // In this way no name begins with a slash, which tar would complain of and take away.
    const std::string top = whole.is_absolute() ? "/" : ".";
    std::string below = whole.is_absolute() ? whole.relative_path().string() : whole.string();
    if (below.empty()) below = ".";
    // No option.
    if (below.starts_with('-')) below.insert(0, "./");
    RemoteArchive archive{.command = {"tar", "cf", "-", "-C", top, below}, .prefix = below};
    // These tar takes away by itself.
    while (archive.prefix.starts_with("../")) archive.prefix.erase(0, 3);
    if (archive.prefix == "..") archive.prefix.clear();
    return archive;
}

std::string last_name(const std::string& path) {
    const std::string name = normal(path).filename().string();
    return name == "." || name == ".." ? "" : name;
}

std::string parent_of(const std::string& path) {
    const std::string parent = normal(path).parent_path().string();
    return parent.empty() ? "." : parent;
}

}  // namespace muster::cli
