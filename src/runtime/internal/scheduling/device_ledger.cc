#include "runtime/internal/scheduling/device_ledger.h"

#include <algorithm>

#include "kube/objects/pod_requests.h"
#include "kube/values/json.h"
#include "kube/values/quantity.h"
#include "kube/values/read_json.h"
#include "runtime/internal/scheduling/scheduling.h"

namespace muster::runtime {

namespace {

std::size_t wanted(const kube::Container& container, const std::string& resource) {
    for (const kube::ResourceList* list :
         {&container.resources.limits, &container.resources.requests}) {
        const auto found = list->find(resource);
        if (found == list->end()) continue;
        const auto quantity = kube::Quantity::parse(found->second);
        return quantity
                   ? static_cast<std::size_t>(std::max<std::int64_t>(quantity->ceil_units(), 0))
                   : 0;
    }
    return 0;
}

}  // namespace

Result<Devices> DeviceLedger::take(const std::string& pod_uid, const kube::PodSpec& spec) {
    if (const auto had = taken_.find(pod_uid); had != taken_.end()) return had->second;
    const auto requests = kube::container_requests(spec);
    Devices mine;
    for (const auto& [resource, ids] : all_) {
        const auto request = requests.find(resource);
        if (request == requests.end()) continue;
        const auto count =
            static_cast<std::size_t>(std::max<std::int64_t>(request->second.ceil_units(), 0));
        std::set<std::string> others;
        for (const auto& [uid, devices] : taken_)
            if (const auto theirs = devices.find(resource); theirs != devices.end())
                others.insert(theirs->second.begin(), theirs->second.end());
        std::vector<std::string>& own = mine[resource];
        for (const std::string& id : ids)
            if (own.size() < count && !others.contains(id)) own.push_back(id);
        if (own.size() < count)
            return Error(Code::kConflict,
                         fmt::format("{} of {} {} are free, and the pod asks for {}", own.size(),
                                     ids.size(), resource, count));
    }
    taken_.emplace(pod_uid, mine);
    return mine;
}

std::string text_of(const Devices& devices) {
    return devices.empty() ? std::string() : json::serialize(json::value_from(devices));
}

Devices devices_in(std::string_view text) {
    const std::optional<json::value> value = kube::read_json(text);
    if (!value) return {};
    auto devices = json::try_value_to<Devices>(*value);
    return devices ? *std::move(devices) : Devices();
}

Devices devices_of_container(const kube::PodSpec& spec, std::size_t index, const Devices& of_pod) {
    const std::size_t inits = spec.init_containers.size();
    Devices own;
    if (index >= inits + spec.containers.size()) return own;
    for (const auto& [resource, ids] : of_pod) {
        std::size_t first = 0;
        for (std::size_t i = inits; i < index; ++i)
            first += wanted(spec.containers[i - inits], resource);
        const kube::Container& container =
            index < inits ? spec.init_containers[index] : spec.containers[index - inits];
        const std::size_t count = wanted(container, resource);
        for (std::size_t i = first; i < std::min(first + count, ids.size()); ++i)
            own[resource].push_back(ids[i]);
    }
    return own;
}

std::vector<std::string> device_environment(const Devices& machine, const Devices& own) {
    std::vector<std::string> environment;
    bool intel = false;
    std::string intel_ids;
    for (const auto& [resource, unused] : machine) {
        const auto found = own.find(resource);
        const std::string ids =
            found == own.end() ? std::string() : fmt::format("{}", fmt::join(found->second, ","));
        if (resource == "nvidia.com/gpu") {
            // The numbers are in bus order, as in nvidia-smi.
            environment.push_back("CUDA_DEVICE_ORDER=PCI_BUS_ID");
            environment.push_back("CUDA_VISIBLE_DEVICES=" + ids);
            environment.push_back("NVIDIA_VISIBLE_DEVICES=" + (ids.empty() ? "void" : ids));
        } else if (resource == "amd.com/gpu") {
            environment.push_back("ROCR_VISIBLE_DEVICES=" + (ids.empty() ? "-1" : ids));
            // HIP counts the devices that ROCR leaves visible.
            std::string rest;
            for (std::size_t i = 0; found != own.end() && i < found->second.size(); ++i)
                rest += fmt::format("{}{}", i == 0 ? "" : ",", i);
            environment.push_back("HIP_VISIBLE_DEVICES=" + (rest.empty() ? "-1" : rest));
        } else if (resource.starts_with("gpu.intel.com/")) {
            intel = true;
            if (!ids.empty()) intel_ids += (intel_ids.empty() ? "" : ",") + ids;
        }
    }
    // An empty mask would show all of them, and no mask hides them.
    if (intel && !intel_ids.empty()) environment.push_back("ZE_AFFINITY_MASK=" + intel_ids);
    return environment;
}

}  // namespace muster::runtime
