#include "runtime/internal/files/downward_api.h"

#include <fmt/format.h>

#include <algorithm>

#include "kube/values/go_quote.h"

namespace muster::runtime {

namespace {

/// `metadata.labels['k']` -> k; nullopt if the path does not have that form.
std::optional<std::string> subscript(std::string_view path, std::string_view field) {
    if (!path.starts_with(field)) return std::nullopt;
    path.remove_prefix(field.size());
    if (!path.starts_with("['") || !path.ends_with("']") || path.size() < 5) return std::nullopt;
    return std::string(path.substr(2, path.size() - 4));
}

const json::value* resource_in(const kube::ResourceList& list, std::string_view name) {
    auto it = list.find(std::string(name));
    return it == list.end() ? nullptr : &it->second;
}

std::string lines_of(const std::map<std::string, std::string>& map) {
    std::string lines;
    for (const auto& [key, value] : map)
        lines += fmt::format("{}{}={}", lines.empty() ? "" : "\n", key, kube::go_quoted(value));
    return lines;
}

}  // namespace

Result<std::string> field_value(const std::string& path, const EnvironmentInput& input) {
    const kube::ObjectMeta& meta = input.pod.metadata;
    auto from = [](const std::map<std::string, std::string>& map, const std::string& key) {
        auto it = map.find(key);
        return it == map.end() ? std::string() : it->second;
    };
    if (auto key = subscript(path, "metadata.labels")) return from(meta.labels, *key);
    if (auto key = subscript(path, "metadata.annotations")) return from(meta.annotations, *key);
    if (path == "metadata.name") return meta.name;
    if (path == "metadata.namespace") return meta.namespace_;
    if (path == "metadata.uid") return meta.uid;
    if (path == "spec.nodeName") return input.node_name;
    if (path == "spec.serviceAccountName") return input.pod.spec.service_account_name;
    if (path == "status.hostIP" || path == "status.hostIPs") return input.host_ip;
    if (path == "status.podIP" || path == "status.podIPs") return input.pod_ip;
    return Error(Code::kInvalid, fmt::format("unsupported fieldPath: {}", path));
}

Result<std::string> resource_value(const kube::Container* container,
                                   const kube::ResourceFieldSelector& selector,
                                   const EnvironmentInput& input) {
    if (container == nullptr || !selector.container_name.empty()) {
        auto it = std::ranges::find(input.pod.spec.containers, selector.container_name,
                                    &kube::Container::name);
        if (it == input.pod.spec.containers.end())
            return Error(Code::kInvalid,
                         fmt::format("container {} not found", selector.container_name));
        container = &*it;
    }
    const std::size_t dot = selector.resource.find('.');
    const std::string kind = selector.resource.substr(0, dot);
    const std::string name = dot == std::string::npos ? "" : selector.resource.substr(dot + 1);
    if ((kind != "limits" && kind != "requests") ||
        (name != "cpu" && name != "memory" && name != "ephemeral-storage"))
        return Error(Code::kInvalid,
                     fmt::format("unsupported container resource: {}", selector.resource));

    kube::Quantity divisor = kube::Quantity::from_units(1);
    if (!selector.divisor.is_null()) {
        TRY(divisor, kube::Quantity::parse(selector.divisor));
        if (divisor.is_zero()) divisor = kube::Quantity::from_units(1);
    }
    const json::value* found = resource_in(
        kind == "limits" ? container->resources.limits : container->resources.requests, name);
    kube::Quantity value;
    if (found != nullptr) {
        TRY(value, kube::Quantity::parse(*found));
    } else if (kind == "limits" && name == "cpu") {
        value = input.node_cpu;
    } else if (kind == "limits" && name == "memory") {
        value = input.node_memory;
    }
    // Rounded up. A divisor below one is only meaningful for cpu, and milli is the finest there.
    const bool milli = divisor < kube::Quantity::from_units(1);
    const std::int64_t dividend = milli ? value.ceil_milli() : value.ceil_units();
    if (name == "cpu" || milli) {
        const std::int64_t by = std::max<std::int64_t>(divisor.ceil_milli(), 1);
        return std::to_string((value.ceil_milli() + by - 1) / by);
    }
    const std::int64_t by = std::max<std::int64_t>(divisor.ceil_units(), 1);
    return std::to_string((dividend + by - 1) / by);
}

Result<std::string> volume_field_value(const std::string& path, const EnvironmentInput& input) {
    const kube::ObjectMeta& meta = input.pod.metadata;
    if (path == "metadata.labels") return lines_of(meta.labels);
    if (path == "metadata.annotations") return lines_of(meta.annotations);
    if (path.starts_with("metadata.")) return field_value(path, input);
    return Error(Code::kInvalid, fmt::format("unsupported fieldPath in a volume: {}", path));
}

}  // namespace muster::runtime
