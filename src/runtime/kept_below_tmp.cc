#include "runtime/kept_below_tmp.h"

#include <algorithm>
#include <system_error>

namespace muster::runtime {

namespace fs = std::filesystem;

bool is_below(std::string_view path, std::string_view directory) {
    return path.size() > directory.size() && path.starts_with(directory) &&
           path[directory.size()] == '/';
}

std::string normal_path(const std::string& path) {
    std::string clean = fs::path(path).lexically_normal();
    if (clean.starts_with("//")) clean.erase(0, 1);
    while (clean.size() > 1 && clean.ends_with('/')) clean.pop_back();
    return clean;
}

void keep_below_tmp(std::vector<std::string>& kept, const std::string& path) {
    std::string normal = normal_path(path);
    if (!is_below(normal, "/tmp")) return;
    for (const std::string& have : kept)
        if (normal == have || is_below(normal, have)) return;
    std::erase_if(kept, [&](const std::string& have) { return is_below(have, normal); });
    kept.push_back(std::move(normal));
}

std::vector<std::string> find_kept_below_tmp(const std::vector<std::string>& environment,
                                             const fs::path& working_dir) {
    std::vector<std::string> kept;
    keep_below_tmp(kept, working_dir);
    for (const std::string& entry : environment) {
        if (entry.starts_with("HOME=")) keep_below_tmp(kept, entry.substr(5));
        if (!entry.starts_with("PATH=")) continue;
        std::string_view path = std::string_view(entry).substr(5);
        while (!path.empty()) {
            const std::size_t colon = path.find(':');
            const fs::path directory(path.substr(0, colon));
            // For `/tmp/venv/bin` the whole environment.
            const fs::path parent = directory.parent_path();
            keep_below_tmp(kept, is_below(parent.native(), "/tmp") ? parent : directory);
            path = colon == path.npos ? std::string_view() : path.substr(colon + 1);
        }
    }
    std::error_code error;
    std::erase_if(kept, [&](const std::string& path) { return !fs::is_directory(path, error); });
    return kept;
}

}  // namespace muster::runtime
