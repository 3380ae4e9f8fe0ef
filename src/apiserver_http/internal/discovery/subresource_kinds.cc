#include "apiserver_http/internal/discovery/subresource_kinds.h"

#include <algorithm>

namespace muster::apiserver_http {

namespace {

/// An empty kind means the resource's.
const SubresourceKind kKnown[] = {
    {"attach", "", "", "PodAttachOptions", {"create", "get"}},
    {"binding", "", "", "Binding", {"create"}},
    {"ephemeralcontainers", "", "", "", {"get", "patch", "update"}},
    {"eviction", "policy", "v1", "Eviction", {"create"}},
    {"exec", "", "", "PodExecOptions", {"create", "get"}},
    {"finalize", "", "", "", {"update"}},
    {"log", "", "", "", {"get"}},
    {"portforward", "", "", "PodPortForwardOptions", {"create", "get"}},
    {"scale", "autoscaling", "v1", "Scale", {"get", "patch", "update"}},
    {"status", "", "", "", {"get", "patch", "update"}},
    {"token", "authentication.k8s.io", "v1", "TokenRequest", {"create"}},
};

}  // namespace

std::vector<SubresourceKind> subresources_of(const apiserver::ResourceDef& def) {
    std::set<std::string, std::less<>> names = def.other_subresources;
    if (def.has_status) names.insert("status");
    if (def.scale) names.insert("scale");
    std::vector<SubresourceKind> subresources;
    for (const std::string& name : names) {
        const auto* known = std::ranges::find(kKnown, name, &SubresourceKind::name);
        SubresourceKind sub = known == std::end(kKnown)
                                  ? SubresourceKind{name, "", "", "", {"get", "patch", "update"}}
                                  : *known;
        if (sub.kind.empty()) sub.kind = def.type.kind;
        subresources.push_back(std::move(sub));
    }
    return subresources;
}

}  // namespace muster::apiserver_http
