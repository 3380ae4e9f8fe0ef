#include "runtime/internal/pod_containers.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "kube/objects/codec.h"
#include "kube/values/json_access.h"
#include "runtime/internal/run_id.h"

namespace muster::runtime {

namespace {

constexpr std::size_t kMostContainers = std::size_t{1} << RunId::kContainerBits;
constexpr std::string_view kEphemeral = "ephemeralContainers";

std::size_t fixed_containers(const kube::PodSpec& spec) {
    return spec.init_containers.size() + spec.containers.size();
}

}  // namespace

std::vector<kube::Container> ephemeral_containers_of(const kube::PodSpec& spec) {
    std::vector<kube::Container> containers;
    const std::size_t fixed = fixed_containers(spec);
    const json::array* list = kube::array_at(spec.rest, kEphemeral);
    if (list == nullptr) return containers;
    for (const json::value& entry : *list) {
        if (fixed + containers.size() >= kMostContainers) break;
        auto container = kube::decode<kube::Container>(entry);
        if (!container) continue;
        if (container->command.empty() && container->args.empty()) container->command = {"sh"};
        containers.push_back(*std::move(container));
    }
    return containers;
}

PodContainers::PodContainers(std::shared_ptr<const kube::Pod> pod) : pod_(std::move(pod)) {
    for (kube::Container& container : ephemeral_containers_of(pod_->spec))
        ephemeral_.push_back(std::move(container));
}

std::size_t PodContainers::fixed() const { return fixed_containers(pod_->spec); }

const kube::Container& PodContainers::at(std::size_t index) const {
    const auto& init = pod_->spec.init_containers;
    if (index < init.size()) return init[index];
    return index < fixed() ? pod_->spec.containers[index - init.size()]
                           : ephemeral_[index - fixed()];
}

std::string_view PodContainers::list(std::size_t index) const {
    if (is_ephemeral(index)) return kEphemeral;
    return index < pod_->spec.init_containers.size() ? "initContainers" : "containers";
}

std::string PodContainers::path(std::size_t index) const {
    const std::size_t inits = pod_->spec.init_containers.size();
    const std::size_t first = is_ephemeral(index) ? fixed() : index < inits ? 0 : inits;
    return fmt::format("spec.{}[{}]", list(index), index - first);
}

bool PodContainers::update(std::shared_ptr<const kube::Pod> pod) {
    pod_ = std::move(pod);
    const json::array* list = kube::array_at(pod_->spec.rest, kEphemeral);
    if (list == nullptr || list->size() <= ephemeral_.size() || size() >= kMostContainers)
        return false;
    std::set<std::string, std::less<>> known;
    for (const kube::Container& container : ephemeral_) known.insert(container.name);
    const std::size_t before = ephemeral_.size();
    for (kube::Container& container : ephemeral_containers_of(pod_->spec))
        if (known.insert(container.name).second) ephemeral_.push_back(std::move(container));
    return ephemeral_.size() > before;
}

}  // namespace muster::runtime
