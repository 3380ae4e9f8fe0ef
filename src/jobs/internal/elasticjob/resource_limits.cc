#include "jobs/internal/elasticjob/resource_limits.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>

#include "jobs/internal/elasticjob/elasticjob.h"
#include "jobs/internal/text.h"
#include "jobs/internal/variables.h"
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

double requested(const Job& job, std::string_view limit) {
    double sum = 0;
    for (const auto& [type, spec] : job.replicas)
        for (const kube::Container& container : spec.template_.spec.containers)
            sum += wanted(job, type) * requested(container, limit);
    return sum;
}

std::string amount_text(std::string_view limit, double amount) {
    return limit == "memory" ? fmt::format("{:.0f}Mi", amount / (1024.0 * 1024.0))
                             : fmt::format("{:.6g}", amount);
}

}  // namespace

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
