#include "manifest/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "jobs/scale_plan.h"
#include "kube/values/quantity.h"
#include "manifest/internal/review_job.h"
#include "manifest/pod_specs.h"

namespace muster::manifest {

namespace {

/// Milli-CPUs or bytes.
using Amount = std::int64_t;

json::value* amount_at(json::object& container, std::string_view part, std::string_view resource) {
    json::value* resources = container.if_contains("resources");
    json::value* list = resources == nullptr || !resources->is_object()
                            ? nullptr
                            : resources->get_object().if_contains(part);
    return list == nullptr || !list->is_object() ? nullptr
                                                 : list->get_object().if_contains(resource);
}

class Fitter {
  public:
    Fitter(std::vector<CheckedObject>& objects, std::string resource)
        : objects_(objects), resource_(std::move(resource)) {}

    Amount total() {
        Amount sum = 0;
        for (CheckedObject& object : objects_) {
            for (const PodSpecRef& pod : pod_specs(object.document))
                sum += pod_request(pod) * replicas(object, pod);
        }
        return sum;
    }

    /// Writes scaled requests, even if only limits were written.
    void scale(double factor) {
        for (CheckedObject& object : objects_) {
            for (const PodSpecRef& pod : pod_specs(object.document))
                for (const ContainerRef& ref : containers(pod)) scale(*ref.container, factor);
            if (!object.job) continue;
            const jobs::Platform platform = object.job->platform;
            object.job = review_job(*object.job->kind, object.document.object, platform).job;
        }
    }

  private:
    static Amount replicas(const CheckedObject& object, const PodSpecRef& pod) {
        if (!object.job) return 1;
        const jobs::JobKind& kind = *object.job->kind;
        if (kind.scale_plans) {
            // Its defaults make the first worker of some jobs their chief, with the worker's template.
            const auto written = jobs::written_replicas(kind, object.document.object);
            const auto found = written.find(pod.replica_type);
            return found == written.end() ? 0 : found->second;
        }
        const jobs::ReplicaSpec* spec = object.job->replica(pod.replica_type);
        return spec == nullptr ? 0 : spec->replicas.value_or(0);
    }

    Amount request(json::object& container) const {
        json::value* written = amount_at(container, "requests", resource_);
        if (written == nullptr) written = amount_at(container, "limits", resource_);
        if (written == nullptr) return 0;
        Result<kube::Quantity> quantity = kube::Quantity::parse(*written);
        if (!quantity) return 0;
        return resource_ == "cpu" ? quantity->ceil_milli() : quantity->ceil_units();
    }

    /// Init containers run one after another before the others, so the larger of both counts.
    Amount pod_request(const PodSpecRef& pod) const {
        Amount together = 0;
        Amount before = 0;
        for (const ContainerRef& ref : containers(pod)) {
            if (ref.init)
                before = std::max(before, request(*ref.container));
            else
                together += request(*ref.container);
        }
        return std::max(together, before);
    }

    void scale(json::object& container, double factor) const {
        Amount wanted = request(container);
        if (wanted == 0) return;
        auto scaled = static_cast<Amount>(std::floor(static_cast<double>(wanted) * factor));
        json::value& requests = container["resources"].get_object()["requests"];
        if (requests.is_null()) requests = json::object();
        requests.get_object()[resource_] =
            resource_ == "cpu" ? fmt::format("{}m", scaled) : fmt::to_string(scaled);
    }

    std::vector<CheckedObject>& objects_;
    std::string resource_;
};

std::string show(const std::string& resource, Amount amount) {
    if (resource == "cpu") return fmt::format("{:g} CPUs", static_cast<double>(amount) / 1000);
    return fmt::format("{:.3g} GiB of memory", static_cast<double>(amount) / (1 << 30));
}

}  // namespace

bool is_fitted(std::string_view resource) { return resource == "cpu" || resource == "memory"; }

FitResult fit_requests(std::vector<CheckedObject>& objects, const MachineSize& machine, Fit fit) {
    FitResult result;
    std::array<std::pair<std::string, Amount>, 2> resources = {
        std::pair("cpu", static_cast<Amount>(machine.cpus * 1000)),
        std::pair("memory", static_cast<Amount>(machine.memory_bytes))};
    for (const auto& [resource, available] : resources) {
        Fitter fitter(objects, resource);
        Amount total = fitter.total();
        if (total <= available || available <= 0) continue;
        double factor = static_cast<double>(available) / static_cast<double>(total);
        if (fit == Fit::kScale) {
            fitter.scale(factor);
            result.notices.push_back(
                fmt::format("the pods request {} together and this machine has {}: their requests "
                            "are scaled to {:.2g} %",
                            show(resource, total), show(resource, available), factor * 100));
        } else {
            Problem problem;
            problem.source = "--fit strict";
            problem.message = fmt::format(
                "the pods request {} together and this machine has {}; lower the requests or the "
                "replicas, or let them be scaled with --fit scale",
                show(resource, total), show(resource, available));
            result.problems.push_back(std::move(problem));
        }
    }
    return result;
}

}  // namespace muster::manifest
