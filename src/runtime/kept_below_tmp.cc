#include "runtime/kept_below_tmp.h"

#include <algorithm>
#include <string_view>
#include <system_error>

#include "runtime/container_paths.h"

namespace muster::runtime {

namespace fs = std::filesystem;

namespace {

bool is_in_tmp(std::string_view path) { return path != "/tmp" && is_below(path, "/tmp"); }

}  // namespace

void keep_below_tmp(std::vector<std::string>& kept, const std::string& path) {
    std::string normal = normal_path(path);
    if (!is_in_tmp(normal)) return;
    for (const std::string& have : kept)
        if (is_below(normal, have)) return;
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
            keep_below_tmp(kept, is_in_tmp(parent.native()) ? parent : directory);
            path = colon == path.npos ? std::string_view() : path.substr(colon + 1);
        }
    }
    std::error_code error;
    std::erase_if(kept, [&](const std::string& path) { return !fs::is_directory(path, error); });
    return kept;
}

}  // namespace muster::runtime
