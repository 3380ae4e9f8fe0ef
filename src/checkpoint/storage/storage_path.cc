#include "checkpoint/storage/storage_path.h"

#include <fmt/format.h>

#include "base/visible_text.h"

namespace muster::checkpoint {
namespace {

/// What Linux has for one name.
constexpr std::size_t kLongestName = 255;

const char* wrong_with_part(std::string_view part) {
    if (part.empty()) return "a part of it is empty";
    if (part == "." || part == "..") return "it must not have a part '.' or '..'";
    if (part.size() > kLongestName) return "a part of it is longer than 255 bytes";
    if (part.contains('\0')) return "it has a zero byte";
    return nullptr;
}

}  // namespace

Result<std::vector<std::string_view>> parts_of(std::string_view path) {
    std::vector<std::string_view> parts;
    if (path.empty()) return parts;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        parts.push_back(path.substr(begin, end - begin));
        if (const char* const wrong = wrong_with_part(parts.back()); wrong != nullptr)
            return Error(Code::kInvalid,
                         fmt::format("'{}' is no path within a storage: {}",
                                     visible_line(path.substr(0, 2 * kLongestName)), wrong));
        begin = end + 1;
    }
    return parts;
}

std::string_view directory_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view name_of_path(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string path_in(std::string_view directory, std::string_view name) {
    return directory.empty() ? std::string(name) : fmt::format("{}/{}", directory, name);
}

bool is_within(std::string_view path, std::string_view directory) {
    if (directory.empty() || path == directory) return true;
    return path.starts_with(directory) && path[directory.size()] == '/';
}

}  // namespace muster::checkpoint
