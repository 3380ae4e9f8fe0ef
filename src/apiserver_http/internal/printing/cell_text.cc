#include "apiserver_http/internal/printing/cell_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <map>

#include "apiserver_http/internal/json_access.h"

namespace muster::apiserver_http {

std::string age_of(const json::object& object, WallTime now) {
    return age_text(string_at(metadata_of(object), "creationTimestamp"), now);
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
    return fmt::format("{}", fmt::join(parts, separator));
}

std::string shortened(const std::vector<std::string>& parts, std::size_t shown,
                      std::string_view empty) {
    if (parts.empty()) return std::string(empty);
    if (parts.size() <= shown) return joined(parts);
    const std::vector<std::string> first(parts.begin(),
                                         parts.begin() + static_cast<std::ptrdiff_t>(shown));
    return fmt::format("{} + {} more...", joined(first), parts.size() - shown);
}

ContainerTexts template_containers(const json::object& spec) {
    std::vector<std::string> names;
    std::vector<std::string> images;
    const json::object* pod = object_at(spec, "template");
    const json::object* pod_spec = pod == nullptr ? nullptr : object_at(*pod, "spec");
    const json::array* containers =
        pod_spec == nullptr ? nullptr : array_at(*pod_spec, "containers");
    if (containers != nullptr)
        for (const json::value& container : *containers)
            if (const json::object* one = container.if_object()) {
                names.emplace_back(string_at(*one, "name"));
                images.emplace_back(string_at(*one, "image"));
            }
    return {joined(names), joined(images)};
}

}  // namespace muster::apiserver_http
