#include "pod_tools/start/search_path.h"

#include <algorithm>

namespace muster::pod_tools {

std::string with_first(std::string_view folder, std::string_view list) {
    if (list.substr(0, list.find(':')) == folder) return std::string(list);
    std::string made(folder);
    if (!list.empty()) (made += ':') += list;
    return made;
}

std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);  // npos + 1: all of it
}

std::string_view folder_of(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    if (slash == path.npos) return ".";
    return path.substr(0, std::max<std::size_t>(slash, 1));
}

}  // namespace muster::pod_tools
