#include "jobs/internal/elasticjob/resource_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "jobs/internal/elasticjob/elasticjob.h"
#include "jobs/internal/text.h"
#include "jobs/internal/variables.h"
#include "jobs/scale_plan.h"
#include "kube/values/field_path.h"
#include "kube/values/quantity.h"

namespace muster::jobs {
namespace {

constexpr std::string_view kGpu = "gpu";

/// Upstream's "gpu" means every resource of that kind, as "nvidia.com/gpu".
bool is_limited(std::string_view limit, std::string_view resource) {
    return limit == resource || (limit == kGpu && resource.find(kGpu) != resource.npos);
}

/// A limit counts where nothing is requested, as Kubernetes has it. Quantities that can't be read
/// have been reported.
double requested(const kube::Container& container, std::string_view limit) {
    kube::ResourceList amounts = container.resources.requests;
    amounts.insert(container.resources.limits.begin(), container.resources.limits.end());
    double sum = 0;
    for (const auto& [resource, amount] : amounts) {
        if (!is_limited(limit, resource)) continue;
        if (const auto quantity = kube::Quantity::parse(amount)) sum += quantity->approximate();
    }
    return sum;
}

double requested(const ReplicaSpec& spec, std::string_view limit) {
    double sum = 0;
    for (const kube::Container& container : spec.template_.spec.containers)
        sum += requested(container, limit);
    return sum;
}

/// Null for a type without containers. A chief that is made of the first worker has its template.
const kube::Container* container_of(const Job& job, const std::string& type) {
    const ReplicaSpec* spec = job.replica(type);
    if (spec == nullptr && type == kElasticChief) spec = job.replica(std::string(kElasticWorker));
    return spec == nullptr ? nullptr : default_container(*job.kind, spec->template_.spec);
}

/// What single replicas request beyond what their templates do.
double beyond_templates(const Job& job, std::string_view limit) {
    double sum = 0;
    for (const auto& [type, members] : job.status.members) {
        const kube::Container* container = container_of(job, type);
        if (container == nullptr) continue;
        const kube::ResourceList written = ownable_amounts(*container);
        for (const auto& [rank, own] : members.resources) {
            kube::Container changed = *container;
            set_amounts(changed, in_effect(own, written));
            sum += requested(changed, limit) - requested(*container, limit);
        }
    }
    return sum;
}

double requested(const Job& job, std::string_view limit) {
    double sum = beyond_templates(job, limit);
    for (const auto& [type, spec] : job.replicas) sum += wanted(job, type) * requested(spec, limit);
    return sum;
}

std::string amount_text(std::string_view limit, double amount) {
    return limit == "memory" ? fmt::format("{:.0f}Mi", amount / (1024.0 * 1024.0))
                             : fmt::format("{:.6g}", amount);
}

}  // namespace

MemoryPolicy memory_policy(const Job& job) {
    MemoryPolicy policy;
    for (const ReplicaType& type : job.kind->replica_types) {
        const ReplicaSpec* spec = job.replica(type.name);
        const bool counts = spec != nullptr && elastic_origin(job, type.name) != nullptr;
        const double bytes = counts ? requested(*spec, "memory") : 0;
        policy.each.push_back(static_cast<std::int64_t>(std::min(bytes, 1e18)));
    }
    const auto& limits = elastic_spec(job).resource_limits;
    if (const auto limit = limits.find("memory"); limit != limits.end())
        if (const auto quantity = kube::Quantity::parse(limit->second))
            policy.limit = quantity->ceil_units();
    return policy;
}

void check_resource_limits(const Job& job, std::vector<Cause>& causes) {
    constexpr double kRounding = 1 + 1e-9;
    for (const auto& [name, value] : elastic_spec(job).resource_limits) {
        const std::string field = kube::child_path("spec.resourceLimits", name);
        const auto limit = kube::Quantity::parse(value);
        if (!limit || limit->is_negative()) {
            causes.push_back(
                invalid(field, fmt::format("{} is no amount: write a number with an optional unit, "
                                           "as \"16\" or \"30000Mi\"",
                                           json::serialize(value).substr(0, 64))));
            continue;
        }
        const double asked = requested(job, name);
        if (asked <= limit->approximate() * kRounding) continue;
        causes.push_back(invalid(
            field,
            fmt::format("the pods request {} together, and at most {} are allowed: raise the "
                        "limit, or lower requests or replicas",
                        amount_text(name, asked), limit->to_string())));
    }
}

}  // namespace muster::jobs
