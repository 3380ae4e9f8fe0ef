#include "kube/values/field_path.h"

#include <algorithm>

namespace muster::kube {
namespace {

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '$';
}

}  // namespace

std::string child_path(std::string_view parent, std::string_view key) {
    std::string path(parent);
    if (key.empty() || !std::all_of(key.begin(), key.end(), is_plain)) {
        path += '[';
        path += key;
        path += ']';
        return path;
    }
    if (!path.empty()) path += '.';
    path += key;
    return path;
}

std::string item_path(std::string_view parent, std::size_t index) {
    std::string path(parent);
    path += '[';
    path += std::to_string(index);
    path += ']';
    return path;
}

}  // namespace muster::kube
