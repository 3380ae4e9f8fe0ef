#include "cli/internal/step/step_job.h"

#include <algorithm>
#include <memory>

#include "cli/internal/step/step_pod.h"
#include "manifest/manifest.h"

namespace muster::cli {

namespace {

json::object step_replica(const StepRequest& request, int count, StepRole role) {
    json::object made = {{"replicas", count}, {"template", step_pod_template(request, role)}};
    // A launcher is started again, a worker waits: that is the kind's business.
    if (role != StepRole::kLaunch && role != StepRole::kHost)
        made["restartPolicy"] = request.restart_policy;
    else if (role == StepRole::kLaunch)
        made["restartPolicy"] =
            request.restart_policy == "Always" ? "OnFailure" : request.restart_policy;
    return made;
}

json::object step_replicas(const StepRequest& request) {
    json::object made;
    const auto put = [&](std::string_view type, int count, StepRole role) {
        if (count > 0) made[type] = step_replica(request, count, role);
    };
    switch (request.kind->shape) {
        case Shape::kMaster:
            put("Master", 1, StepRole::kWorker);
            put("Worker", request.workers - 1, StepRole::kWorker);
            break;
        case Shape::kServers:
            put(request.kind->server_type, request.servers, StepRole::kServer);
            put("Worker", request.workers, StepRole::kWorker);
            break;
        case Shape::kScheduler:
            put("Scheduler", 1, StepRole::kServer);
            put(request.kind->server_type, std::max(1, request.servers), StepRole::kServer);
            put("Worker", request.workers, StepRole::kWorker);
            break;
        case Shape::kLauncher:
            put("Launcher", 1, StepRole::kLaunch);
            put("Worker", request.workers, StepRole::kHost);
            break;
        case Shape::kWorkersOnly:
            put("Worker", request.workers, StepRole::kWorker);
            break;
    }
    return made;
}

json::object step_run_policy(const StepRequest& request) {
    json::object made = {{"cleanPodPolicy", request.clean_pod_policy},
                         {"backoffLimit", request.backoff_limit}};
    if (request.deadline_seconds) made["activeDeadlineSeconds"] = *request.deadline_seconds;
    if (request.ttl_seconds) made["ttlSecondsAfterFinished"] = *request.ttl_seconds;
    if (!request.gang) return made;
    json::object gang = {{"minAvailable", request.pods()}};
    if (!request.queue.empty()) gang["queue"] = request.queue;
    if (!request.priority_class.empty()) gang["priorityClass"] = request.priority_class;
    made["schedulingPolicy"] = std::move(gang);
    return made;
}

}  // namespace

json::value step_job(const StepRequest& request) {
    json::object metadata = {{"name", request.name}};
    if (!request.namespace_.empty()) metadata["namespace"] = request.namespace_;
    json::object labels;
    for (const auto& [key, value] : request.job_labels) labels[key] = value;
    if (!labels.empty()) metadata["labels"] = std::move(labels);
    json::object annotations;
    for (const auto& [key, value] : request.annotations) annotations[key] = value;
    if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
    json::object spec = {{"runPolicy", step_run_policy(request)}};
    if (request.kind->shape == Shape::kScheduler) spec["jobMode"] = "MXTrain";
    if (request.kind->shape == Shape::kLauncher)
        spec["slotsPerWorker"] = request.processes_per_worker;
    spec[request.kind->replicas_field] = step_replicas(request);
    return json::object{{"apiVersion", request.kind->api_version},
                        {"kind", request.kind->kind},
                        {"metadata", std::move(metadata)},
                        {"spec", std::move(spec)}};
}

manifest::CheckResult checked_step_job(const StepRequest& request,
                                       const std::string& default_namespace) {
    StepRequest placed = request;
    if (placed.namespace_.empty()) placed.namespace_ = default_namespace;
    manifest::Document document{.source = "the job", .object = step_job(placed)};
    document.places = std::make_shared<manifest::SourceNode>();
    return manifest::check_documents({std::move(document)},
                                     {.strict = true, .platform = {.cluster = true}});
}

}  // namespace muster::cli
