#include "operator/internal/scaling/plan_record.h"

#include <fmt/format.h>

#include "kube/objects/codec.h"
#include "kube/values/json_access.h"
#include "kube/values/time.h"
#include "operator/internal/cache/projections.h"

namespace muster::operators {
namespace {

/// A plan may be wrong in thousands of places.
constexpr std::size_t kMostProblems = 3;

std::string text_of(const std::vector<Cause>& problems) {
    std::string text;
    for (std::size_t i = 0; i < problems.size() && i < kMostProblems; ++i)
        text += fmt::format("{}{}: {}", i == 0 ? "" : "; ", problems[i].field,
                            std::string_view(problems[i].message).substr(0, 256));
    if (problems.size() > kMostProblems)
        text += fmt::format("; and {} more", problems.size() - kMostProblems);
    return text;
}

/// What a plan that can't be read names all the same.
std::string job_name_of(const json::object& object) {
    jobs::ScalePlan named;
    named.spec.owner_job = kube::string_at(kube::child(object, "spec"), "ownerJob");
    for (const auto& [key, value] : kube::child(kube::metadata_of(object), "labels"))
        if (const json::string* text = value.if_string()) named.metadata.labels.emplace(key, *text);
    return named.job_name();
}

jobs::ScalePlanStatus status_of(const json::object& object) {
    jobs::ScalePlanStatus status;
    std::vector<Cause> ignored;
    if (const json::value* written = object.if_contains("status"))
        kube::decode_into(*written, status, "status", ignored);
    status.rest.clear();
    return status;
}

}  // namespace

bool PlanRecord::ended(std::int64_t of_generation) const {
    return (status.phase == plan_phases::kSucceeded || status.phase == plan_phases::kFailed) &&
           status.observed_generation.value_or(of_generation) >= of_generation;
}

PlanPtr project_plan(const json::value& object) {
    auto plan = std::make_shared<PlanRecord>();
    const kube::ObjectMeta metadata = metadata_of(object);
    const json::object& fields = object.get_object();
    plan->namespace_ = metadata.namespace_;
    plan->name = metadata.name;
    plan->uid = metadata.uid;
    plan->resource_version = metadata.resource_version;
    plan->generation = kube::int_at(kube::metadata_of(fields), "generation").value_or(0);
    plan->created =
        kube::parse_time(kube::string_at(kube::metadata_of(fields), "creationTimestamp"))
            .value_or(WallTime{});
    plan->deleting = kube::is_deleting(fields);
    plan->status = status_of(fields);
    jobs::ScalePlan labelled;
    labelled.metadata.labels = metadata.labels;
    plan->manual = labelled.is_manual();
    plan->job_name = job_name_of(fields);
    if (plan->ended()) return plan;
    jobs::ScalePlanReview review = jobs::review_scale_plan(object);
    if (review.problems.empty())
        plan->spec = std::make_shared<const jobs::ScalePlanSpec>(std::move(review.plan.spec));
    else
        plan->problem = text_of(review.problems);
    return plan;
}

}  // namespace muster::operators
