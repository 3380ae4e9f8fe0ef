#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace muster::runtime {

// Paths as containers see them: absolute, without following links.

/// "/a/b" of "/a/./b/".
inline std::string normal_path(std::string_view path) {
    std::string text = std::filesystem::path(path).lexically_normal().string();
    if (text.size() > 1 && text.ends_with('/')) text.pop_back();
    return text;
}

/// For two normal paths: whether `path` is the directory or something in it.
inline bool is_below(std::string_view path, std::string_view directory) {
    if (directory == "/") return path.starts_with('/');
    return path.starts_with(directory) &&
           (path.size() == directory.size() || path[directory.size()] == '/');
}

}  // namespace muster::runtime
