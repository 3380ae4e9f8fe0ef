#include "apiserver/requests/router.h"

namespace muster::apiserver {

namespace {

std::vector<std::string_view> split(std::string_view path) {
    std::vector<std::string_view> segments;
    while (!path.empty()) {
        const std::size_t slash = path.find('/');
        const std::string_view segment = path.substr(0, slash);
        if (!segment.empty()) segments.push_back(segment);
        if (slash == std::string_view::npos) break;
        path.remove_prefix(slash + 1);
    }
    return segments;
}

bool has_subresource(const ResourceDef& def, std::string_view name) {
    if (name == "status") return def.has_status || def.custom;
    if (name == "scale") return def.scale.has_value();
    return def.other_subresources.contains(name);
}

}  // namespace

bool is_connection(std::string_view subresource) {
    return subresource == "attach" || subresource == "exec" || subresource == "portforward";
}

StatusResult<Target> route(const Registry& registry, std::string_view path) {
    std::vector<std::string_view> segments = split(path);
    std::string version;
    std::size_t at = 0;
    if (segments.size() >= 2 && segments[0] == "api") {
        version = segments[1];
        at = 2;
    } else if (segments.size() >= 3 && segments[0] == "apis") {
        version = fmt::format("{}/{}", segments[1], segments[2]);
        at = 3;
    } else {
        return unknown_path();
    }
    if (!registry.serves(version) || at == segments.size()) return unknown_path();

    Target target;
    const auto left = [&] { return segments.size() - at; };
    // namespaces/NAME and namespaces/NAME/status are the Namespace itself.
    const bool scoped = segments[at] == "namespaces" && left() >= 3 &&
                        !(version == "v1" && left() == 3 &&
                          (segments[at + 2] == "status" || segments[at + 2] == "finalize"));
    if (scoped) {
        target.namespace_ = segments[at + 1];
        at += 2;
    }
    target.def = registry.find(version, segments[at]);
    if (target.def == nullptr || !target.def->served || target.type().namespaced < scoped ||
        left() > 3)
        return unknown_resource();
    if (left() >= 2) target.name = segments[at + 1];
    if (left() == 3) target.subresource = segments[at + 2];
    // Objects of a namespaced type have no path outside a namespace.
    if (target.type().namespaced && !scoped && left() >= 2) return unknown_resource();
    if (!target.subresource.empty() && !has_subresource(*target.def, target.subresource))
        return unknown_resource();
    return target;
}

}  // namespace muster::apiserver
