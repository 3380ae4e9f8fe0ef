#include "runtime/internal/limits/pod_isolation.h"

#include <algorithm>
#include <iterator>

#include "kube/objects/pod_requests.h"
#include "runtime/internal/run_id.h"
#include "runtime/internal/scheduling/scheduling.h"

namespace muster::runtime {

namespace {
constexpr const char* kShared = "pods share this machine's files and network here";
}  // namespace

PodIsolation::PodIsolation(NodeIsolation& node, std::shared_ptr<const kube::Pod> pod,
                           const PodContainers& containers)
    : node_(node), pod_(std::move(pod)), containers_(containers) {}

PodIsolation::~PodIsolation() { release_devices(); }

std::vector<std::string> PodIsolation::not_honoured(bool namespaces) const {
    std::vector<std::string> fields;
    // A refused field is reported where it is refused.
    if (const auto security = plan_pod_security(*pod_, node_.caller)) {
        fields = security->not_honoured;
        if (!namespaces && !security->sysctls.empty())
            fields.push_back(fmt::format("spec.securityContext.sysctls ({})", kShared));
    }
    for (std::size_t i = 0; i < pod_->spec.init_containers.size() + pod_->spec.containers.size();
         ++i)
        std::ranges::move(not_honoured_of(i, namespaces), std::back_inserter(fields));
    std::ranges::move(limits_without_cgroup(*pod_), std::back_inserter(fields));
    const std::vector<std::string> limits = limits_not_enforced(*pod_, node_.cgroups);
    for (std::size_t i = 0; i < limits.size(); ++i)
        // The reason once, after the last.
        fields.push_back(i + 1 < limits.size()
                             ? limits[i]
                             : fmt::format("{} ({})", limits[i], node_.cgroups.obstacle()));
    return fields;
}

std::vector<std::string> PodIsolation::not_honoured_of(std::size_t index, bool namespaces) const {
    std::vector<std::string> fields;
    const auto security = container_security(index);
    if (!security) return fields;
    for (const std::string& field : security->not_honoured)
        fields.push_back(fmt::format("{}.{}", containers_.path(index), field));
    if (!namespaces && security->read_only_root)
        fields.push_back(fmt::format("{}.securityContext.readOnlyRootFilesystem ({})",
                                     containers_.path(index), kShared));
    return fields;
}

Result<void> PodIsolation::prepare() {
    TRY(security_, plan_pod_security(*pod_, node_.caller));
    TRY(devices_, node_.devices.take(pod_->metadata.uid, pod_->spec));
    if (group_) return {};
    std::int64_t cpu_milli = 0;
    const auto requests = kube::container_requests(pod_->spec);
    if (const auto cpu = requests.find("cpu"); cpu != requests.end())
        cpu_milli = cpu->second.ceil_milli();
    TRY(group_, node_.cgroups.make_pod(pod_->metadata.uid, cpu_milli));
    return {};
}

void PodIsolation::release_devices() { node_.devices.release(pod_->metadata.uid); }

void PodIsolation::sandbox_gone() {
    release_devices();
    instances_.clear();
    group_.reset();
}

bool PodIsolation::privileged() const {
    for (std::size_t i = 0; i < pod_->spec.init_containers.size() + pod_->spec.containers.size();
         ++i)
        if (const auto security = container_security(i);
            security && (security->privileged || security->unmasked_proc))
            return true;
    return false;
}

Result<ContainerSecurity> PodIsolation::container_security(std::size_t index) const {
    auto security = plan_container_security(*pod_, containers_.at(index), node_.caller);
    if (security) return security;
    Error error = std::move(security.error());
    return error.prefix(
        fmt::format("container {} of pod {}", containers_.at(index).name, pod_->metadata.name));
}

std::optional<std::uint32_t> PodIsolation::user_of_all() const {
    std::optional<std::uint32_t> all;
    for (std::size_t i = 0; i < pod_->spec.init_containers.size() + pod_->spec.containers.size();
         ++i) {
        const auto security = container_security(i);
        if (!security || !security->identity.uid) return std::nullopt;
        if (all && *all != *security->identity.uid) return std::nullopt;
        all = security->identity.uid;
    }
    return all;
}

std::vector<std::string> PodIsolation::environment(std::size_t index,
                                                   const ContainerSecurity& security,
                                                   std::vector<std::string> base) const {
    base = environment_of(security, node_.caller, std::move(base));
    const Devices own = devices_of_container(pod_->spec, index, devices_);
    for (std::string& entry : device_environment(node_.devices.all(), own))
        base.push_back(std::move(entry));
    return base;
}

Result<std::vector<UniqueFd>> PodIsolation::enter(std::size_t index, std::uint32_t instance) {
    if (!group_) return std::vector<UniqueFd>();
    TRY(const ContainerLimits limits, limits_of(containers_.at(index)));
    TRY(auto group,
        group_->make_container(
            fmt::format("{}-{}", containers_.at(index).name, RunId::of(instance).launch), limits));
    TRY(auto directories, group->open());
    instances_.insert_or_assign(instance, std::move(group));
    return directories;
}

std::int64_t PodIsolation::oom_kills(std::uint32_t instance) const {
    const auto found = instances_.find(instance);
    return found == instances_.end() ? 0 : found->second->oom_kills();
}

Result<std::unique_ptr<OomNotices>> PodIsolation::oom_notices(asio::any_io_executor executor,
                                                              std::uint32_t instance) const {
    const auto found = instances_.find(instance);
    if (found == instances_.end()) return nullptr;
    return found->second->oom_notices(std::move(executor));
}

bool PodIsolation::leave(std::uint32_t instance) {
    auto found = instances_.extract(instance);
    return !found.empty() && found.mapped()->oom_kills() > 0;
}

}  // namespace muster::runtime
