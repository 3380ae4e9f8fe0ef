#include "apiserver/requests/pod_containers.h"

#include <algorithm>
#include <vector>

#include "apiserver/objects/json_access.h"

namespace muster::apiserver {

namespace {

std::vector<std::string> container_names(const json::object& pod, std::string_view key) {
    std::vector<std::string> names;
    const json::object* spec = object_at(pod, "spec");
    const json::array* containers = spec == nullptr ? nullptr : array_at(*spec, key);
    if (containers == nullptr) return names;
    for (const json::value& entry : *containers)
        if (const json::object* container = entry.if_object())
            names.emplace_back(string_at(*container, "name"));
    return names;
}

}  // namespace

StatusResult<std::string> choose_container(std::string wanted, const json::object& pod) {
    const std::vector<std::string> main = container_names(pod, "containers");
    const std::vector<std::string> init = container_names(pod, "initContainers");
    const std::string_view name = name_of(pod);
    if (wanted.empty()) {
        if (main.size() == 1 && init.empty()) return main.front();
        const json::object* annotations = object_at(metadata_of(pod), "annotations");
        if (annotations != nullptr)
            wanted = string_at(*annotations, "kubectl.kubernetes.io/default-container");
        if (wanted.empty()) {
            std::string text =
                fmt::format("a container name must be specified for pod {}, choose one of: [{}]",
                            name, fmt::join(main, " "));
            if (!init.empty())
                text += fmt::format(" or one of the init containers: [{}]", fmt::join(init, " "));
            return bad_request(std::move(text));
        }
    }
    const std::vector<std::string> later = container_names(pod, "ephemeralContainers");
    const auto is_named = [&](const std::vector<std::string>& names) {
        return std::ranges::find(names, wanted) != names.end();
    };
    if (!is_named(main) && !is_named(init) && !is_named(later))
        return bad_request(fmt::format("container {} is not valid for pod {}", wanted, name));
    return wanted;
}

std::string_view node_of(const json::object& pod) {
    const json::object* spec = object_at(pod, "spec");
    return spec == nullptr ? std::string_view() : string_at(*spec, "nodeName");
}

}  // namespace muster::apiserver
