#include "runtime/pod_changes.h"

#include <algorithm>
#include <cmath>

#include "base/parse_number.h"
#include "kube/objects/codec.h"
#include "kube/objects/pod_contract.h"
#include "kube/values/json_access.h"

namespace muster::runtime {

namespace {

constexpr double kMilli = 1000;

void set_variable(kube::Container& container, const std::string& name, const std::string& value) {
    const auto known = std::ranges::find(container.env, name, &kube::EnvVar::name);
    kube::EnvVar& variable = known == container.env.end() ? container.env.emplace_back() : *known;
    variable = {.name = name, .value = value, .value_from = std::nullopt};
}

std::size_t gang_size(const kube::Pod& pod) {
    const auto found = pod.metadata.annotations.find(std::string(kube::kGangSizeAnnotation));
    if (found == pod.metadata.annotations.end()) return 1;
    return std::max<std::size_t>(leading_number<std::size_t>(found->second).value_or(1), 1);
}

/// `factor` below 1 of what the container requests; its limit stands in for a missing request.
void scale(kube::Container& container, const std::string& resource, double factor) {
    kube::ResourceList& requests = container.resources.requests;
    auto asked = requests.find(resource);
    if (asked == requests.end()) {
        const auto limit = container.resources.limits.find(resource);
        if (limit == container.resources.limits.end()) return;
        asked = requests.emplace(resource, limit->second).first;
    }
    const auto amount = kube::Quantity::parse(asked->second);
    if (!amount) return;
    const bool cpus = resource == "cpu";
    const double scaled = std::floor(amount->approximate() * factor * (cpus ? kMilli : 1));
    const auto whole = static_cast<std::int64_t>(scaled);
    const kube::Quantity fitted =
        cpus ? kube::Quantity::from_milli(whole) : kube::Quantity::from_units(whole);
    asked->second = json::value(fitted.to_string());
}

void fit(const kube::Amounts& capacity, kube::Pod& pod) {
    const kube::Amounts asked = kube::container_requests(pod.spec);
    const auto pods = static_cast<double>(gang_size(pod));
    for (const char* resource : {"cpu", "memory"}) {
        const auto wanted = asked.find(resource);
        const auto have = capacity.find(resource);
        if (wanted == asked.end() || have == capacity.end()) continue;
        const double share = have->second.approximate() / pods;
        if (wanted->second.approximate() <= share) continue;
        const double factor = share / wanted->second.approximate();
        for (auto* containers : {&pod.spec.init_containers, &pod.spec.containers})
            for (kube::Container& container : *containers) scale(container, resource, factor);
    }
}

void change(const PodChanges& changes, kube::Container& container) {
    if (!kube::has_words(container.command))
        if (const auto* command = changes.entrypoints.of(container.image))
            container.command = *command;
    for (const auto& [name, value] : changes.env) set_variable(container, name, value);
    if (!changes.working_dir.empty()) container.working_dir = changes.working_dir;
    for (const std::string& resource : changes.ignored_resources) {
        container.resources.limits.erase(resource);
        container.resources.requests.erase(resource);
    }
}

}  // namespace

bool PodChanges::empty() const {
    return entrypoints.empty() && env.empty() && working_dir.empty() && ignored_resources.empty() &&
           !scales_requests;
}

void apply(const PodChanges& changes, const kube::Amounts& capacity, kube::Pod& pod) {
    for (auto* containers : {&pod.spec.init_containers, &pod.spec.containers})
        for (kube::Container& container : *containers) change(changes, container);
    if (json::array* later = kube::array_at(pod.spec.rest, "ephemeralContainers"))
        for (json::value& entry : *later)
            if (auto container = kube::decode<kube::Container>(entry)) {
                change(changes, *container);
                entry = kube::encode(*container);
            }
    if (changes.scales_requests) fit(capacity, pod);
}

}  // namespace muster::runtime
