#include "runtime/internal/network/named_objects.h"

#include <utility>

#include "base/log.h"
#include "kube/objects/codec.h"
#include "kube/objects/core_objects.h"

namespace muster::runtime {

namespace {

std::string controller_uid(const kube::ObjectMeta& meta) {
    const kube::OwnerReference* owner = meta.controller();
    return owner == nullptr ? std::string() : owner->uid;
}

}  // namespace

NamedPod names_of(const kube::Pod& pod) {
    NamedPod named{.namespace_ = pod.metadata.namespace_,
                   .name = pod.metadata.name,
                   .hostname = pod.spec.hostname,
                   .subdomain = pod.spec.subdomain,
                   .owner_uid = controller_uid(pod.metadata),
                   .labels = pod.metadata.labels,
                   .host_aliases = {}};
    const json::value* aliases = pod.spec.rest.if_contains("hostAliases");
    if (aliases == nullptr || !aliases->is_array()) return named;
    for (const json::value& alias : aliases->get_array()) {
        const json::object* fields = alias.if_object();
        const json::value* ip = fields == nullptr ? nullptr : fields->if_contains("ip");
        const json::value* names = fields == nullptr ? nullptr : fields->if_contains("hostnames");
        if (ip == nullptr || !ip->is_string() || names == nullptr || !names->is_array()) continue;
        std::vector<std::string> list;
        for (const json::value& name : names->get_array())
            if (name.is_string()) list.emplace_back(name.get_string());
        named.host_aliases.emplace_back(std::string(ip->get_string()), std::move(list));
    }
    return named;
}

std::optional<NamedService> service_in(const json::value& object) {
    auto service = kube::decode<kube::Service>(object);
    if (!service) {
        log::error("a service can't be read and is ignored",
                   {{"error", service.error().message()}});
        return std::nullopt;
    }
    return NamedService{.namespace_ = service->metadata.namespace_,
                        .name = service->metadata.name,
                        .owner_uid = controller_uid(service->metadata),
                        .selector = service->spec.selector};
}

bool is_server(const NamedService& service) {
    return service.namespace_ == "default" && service.name == "kubernetes" &&
           service.selector.empty();
}

}  // namespace muster::runtime
