#include "apiserver/internal/quota/usage.h"

#include <algorithm>
#include <array>
#include <span>

#include "apiserver/objects/json_access.h"
#include "kube/values/equality.h"
#include "kube/values/name_syntax.h"
#include "kube/values/time.h"

namespace muster::apiserver {

namespace {

constexpr std::string_view kCount = "count/";
constexpr std::string_view kRequests = "requests.";
constexpr std::string_view kHugePages = "hugepages-";
constexpr std::string_view kOfStorageClass = ".storageclass.storage.k8s.io/";
constexpr std::string_view kClaims = "persistentvolumeclaims";

constexpr std::array<std::string_view, 10> kPodLimits = {"pods",
                                                         "cpu",
                                                         "memory",
                                                         "ephemeral-storage",
                                                         "requests.cpu",
                                                         "requests.memory",
                                                         "limits.cpu",
                                                         "limits.memory",
                                                         "requests.ephemeral-storage",
                                                         "limits.ephemeral-storage"};
constexpr std::array<std::string_view, 3> kServiceLimits = {"services", "services.nodeports",
                                                            "services.loadbalancers"};
/// Counted by their own names, too, since before there was `count/`.
constexpr std::array<std::string_view, 4> kCountedByName = {"configmaps", "replicationcontrollers",
                                                            "resourcequotas", "secrets"};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

const kube::Quantity& one() {
    static const kube::Quantity kOne = kube::Quantity::from_units(1);
    return kOne;
}

bool is_counted_for_pods(std::string_view limit) {
    if (is_one_of(kPodLimits, limit)) return true;
    if (limit.starts_with(kHugePages)) return true;
    if (!limit.starts_with(kRequests)) return false;
    const std::string_view resource = limit.substr(kRequests.size());
    return resource.starts_with(kHugePages) || !kube::is_native_resource(resource);
}

/// Whether an API server counts such objects: events never were.
bool is_counted(std::string_view resource) {
    return resource != "events" && resource != "events.events.k8s.io";
}

void put_pod_resources(const json::object& spec, ResourceList& amounts) {
    for (const auto& [name, amount] : pod_resources(spec, "requests", Overhead::kCounted)) {
        const bool native = name == "cpu" || name == "memory" || name == "ephemeral-storage";
        const bool huge = std::string_view(name).starts_with(kHugePages);
        if (native || huge) amounts.insert_or_assign(name, amount);
        if (native || huge || !kube::is_native_resource(name))
            amounts.insert_or_assign(std::string(kRequests) + name, amount);
    }
    const ResourceList limits = pod_resources(spec, "limits", Overhead::kCounted);
    for (const char* name : {"cpu", "memory", "ephemeral-storage"})
        if (const auto limit = limits.find(name); limit != limits.end())
            amounts.insert_or_assign(std::string("limits.") + name, limit->second);
}

bool has_cross_namespace_term(const json::object& affinity) {
    const auto crosses = [](const json::object& term) {
        const json::array* namespaces = array_at(term, "namespaces");
        return (namespaces != nullptr && !namespaces->empty()) ||
               object_at(term, "namespaceSelector") != nullptr;
    };
    return std::ranges::any_of(
               objects_at(affinity, "requiredDuringSchedulingIgnoredDuringExecution"),
               [&](const json::object* term) { return crosses(*term); }) ||
           std::ranges::any_of(
               objects_at(affinity, "preferredDuringSchedulingIgnoredDuringExecution"),
               [&](const json::object* term) { return crosses(child(*term, "podAffinityTerm")); });
}

bool has_deadline(const json::object& pod) {
    return int_at(child(pod, "spec"), "activeDeadlineSeconds").value_or(-1) >= 0;
}

/// Whether no container asks for processor time or memory.
bool is_best_effort(const json::object& spec) {
    const auto asks = [](const json::object* container) {
        for (const char* which : {"requests", "limits"}) {
            const ResourceList list = resource_list(child(child(*container, "resources"), which));
            for (const char* name : {"cpu", "memory"})
                if (const auto amount = list.find(name);
                    amount != list.end() && !amount->second.is_zero())
                    return true;
        }
        return false;
    };
    return std::ranges::none_of(objects_at(spec, "containers"), asks) &&
           std::ranges::none_of(objects_at(spec, "initContainers"), asks);
}

/// How long a pod that hangs in its deletion counts: its grace period once more after the time at
/// which it should have ended, as upstream's evaluator has it.
std::optional<WallTime> counts_until(const json::object& pod) {
    const json::object& meta = metadata_of(pod);
    const auto grace = int_at(meta, "deletionGracePeriodSeconds");
    const auto ends = kube::parse_time(string_at(meta, "deletionTimestamp"));
    if (!grace || !ends) return std::nullopt;
    // Both may be of any size.
    using std::chrono::seconds;
    constexpr std::int64_t kMostSeconds = std::int64_t{7'000'000'000};  // in the year 2191
    const auto sum = std::chrono::floor<seconds>(*ends).time_since_epoch() +
                     seconds(std::clamp<std::int64_t>(*grace, 0, kMostSeconds));
    return WallTime(std::min(sum, seconds(kMostSeconds)));
}

void put_pod(const json::object& pod, WallTime now, Usage& usage) {
    const json::object& spec = child(pod, "spec");
    usage.is_pod = true;
    usage.terminating = has_deadline(pod);
    usage.best_effort = is_best_effort(spec);
    usage.priority_class = string_at(spec, "priorityClassName");
    const json::object& affinity = child(spec, "affinity");
    usage.cross_namespace_affinity = has_cross_namespace_term(child(affinity, "podAffinity")) ||
                                     has_cross_namespace_term(child(affinity, "podAntiAffinity"));
    const std::string_view phase = string_at(child(pod, "status"), "phase");
    if (phase == "Succeeded" || phase == "Failed") return;
    usage.until = counts_until(pod);
    if (usage.until && now > *usage.until) {
        usage.until.reset();
        return;
    }
    usage.amounts.emplace("pods", one());
    put_pod_resources(spec, usage.amounts);
}

void put_service(const json::object& service, ResourceList& amounts) {
    const json::object& spec = child(service, "spec");
    const std::string_view type = string_at(spec, "type");
    amounts.emplace("services", one());
    if (type != "NodePort" && type != "LoadBalancer") return;
    if (type == "LoadBalancer") amounts.emplace("services.loadbalancers", one());
    const json::value* allocates = spec.if_contains("allocateLoadBalancerNodePorts");
    const bool only_given = type == "LoadBalancer" && allocates != nullptr &&
                            allocates->is_bool() && !allocates->get_bool();
    const auto ports = objects_at(spec, "ports");
    const auto count =
        only_given ? std::ranges::count_if(ports,
                                           [](const json::object* port) {
                                               return int_at(*port, "nodePort").value_or(0) != 0;
                                           })
                   : std::ssize(ports);
    amounts.emplace("services.nodeports", kube::Quantity::from_units(count));
}

void put_claim(const json::object& claim, ResourceList& amounts) {
    const json::object& spec = child(claim, "spec");
    const std::string storage_class(string_at(spec, "storageClassName"));
    const std::string prefix =
        storage_class.empty() ? std::string() : storage_class + std::string(kOfStorageClass);
    amounts.emplace(kClaims, one());
    if (!prefix.empty()) amounts.emplace(prefix + std::string(kClaims), one());
    const json::value* storage = child(child(spec, "resources"), "requests").if_contains("storage");
    const auto amount = storage == nullptr ? kube::Quantity() : kube::Quantity::parse(*storage);
    if (storage == nullptr || !amount) return;
    amounts.emplace("requests.storage", *amount);
    if (!prefix.empty()) amounts.emplace(prefix + "requests.storage", *amount);
}

}  // namespace

std::string_view counted_resource(std::string_view limit) {
    if (limit.starts_with(kCount)) {
        const std::string_view resource = limit.substr(kCount.size());
        return is_counted(resource) ? resource : std::string_view();
    }
    if (is_counted_for_pods(limit)) return "pods";
    if (is_one_of(kServiceLimits, limit)) return "services";
    if (is_one_of(kCountedByName, limit)) return limit;
    if (limit == kClaims || limit == "requests.storage" ||
        limit.find(kOfStorageClass) != std::string_view::npos)
        return kClaims;
    return {};
}

Usage usage_of(std::string_view resource, const json::object& object, WallTime now) {
    Usage usage;
    usage.amounts.emplace(std::string(kCount) + std::string(resource), one());
    if (resource == "pods")
        put_pod(object, now, usage);
    else if (resource == "services")
        put_service(object, usage.amounts);
    else if (resource == kClaims)
        put_claim(object, usage.amounts);
    else if (is_one_of(kCountedByName, resource))
        usage.amounts.emplace(resource, one());
    return usage;
}

bool may_take_more(std::string_view resource, const json::object& before,
                   const json::object& after) {
    if (resource == "pods") return has_deadline(before) != has_deadline(after);
    if (resource != "services" && resource != kClaims) return false;
    return !kube::equal(child(before, "spec"), child(after, "spec"));
}

}  // namespace muster::apiserver
