#include "operator/internal/job_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/json/array.hpp>

namespace muster::operators {

json::object job_object(const JobSketch& sketch) {
    auto replica = [&](int count) {
        json::object container{
            {"name", "pytorch"}, {"image", "train:1"}, {"command", json::array{"train"}}};
        return json::object{
            {"replicas", count},
            {"restartPolicy", sketch.policy},
            {"template",
             json::object{{"spec", json::object{{"containers", json::array{container}}}}}},
        };
    };
    json::object replicas;
    if (sketch.masters >= 0) replicas["Master"] = replica(sketch.masters);
    if (sketch.workers >= 0) replicas["Worker"] = replica(sketch.workers);
    json::object run_policy{{"cleanPodPolicy", sketch.clean}};
    if (sketch.suspend) run_policy["suspend"] = true;
    return {
        {"apiVersion", "kubeflow.org/v1"},
        {"kind", "PyTorchJob"},
        {"metadata", json::object{{"name", sketch.name}, {"namespace", "default"}}},
        {"spec", json::object{{"runPolicy", run_policy}, {"pytorchReplicaSpecs", replicas}}},
    };
}

jobs::Job make_job(const JobSketch& sketch) {
    json::object object = job_object(sketch);
    json::object& metadata = object["metadata"].as_object();
    metadata["uid"] = "job-uid";
    metadata["resourceVersion"] = "7";
    metadata["generation"] = 1;
    auto job = jobs::load(pytorch(), object);
    if (!job.has_value()) {
        ADD_FAILURE() << job.error().message();
        return {};
    }
    return *std::move(job);
}

PodPtr make_pod(const PodSketch& sketch) {
    auto pod = std::make_shared<PodRecord>();
    pod->namespace_ = "default";
    pod->replica = {sketch.type, sketch.index};
    const std::string lower = pytorch().replica_type(sketch.type)->lower();
    pod->name = fmt::format("demo-{}-{}", lower, sketch.index);
    pod->uid = sketch.uid.empty() ? fmt::format("{}{}", lower, sketch.index) : sketch.uid;
    pod->owner = {.kind = "PyTorchJob", .name = "demo", .uid = JobUid("job-uid")};
    pod->phase = sketch.phase;
    pod->deleting = sketch.deleting;
    pod->exit_code = pod->final_exit_code = sketch.exit_code;
    pod->exits = sketch.exit_code ? 1 : 0;
    return pod;
}

ServicePtr make_service(const std::string& type, int index) {
    auto service = std::make_shared<ServiceRecord>();
    service->namespace_ = "default";
    service->replica = {type, index};
    service->name = fmt::format("demo-{}-{}", pytorch().replica_type(type)->lower(), index);
    service->uid = service->name + "-service";
    service->owner = {.kind = "PyTorchJob", .name = "demo", .uid = JobUid("job-uid")};
    return service;
}

Dependents make_dependents(const std::vector<PodSketch>& pods) {
    Dependents dependents;
    for (const PodSketch& sketch : pods) {
        Slot& slot = dependents.slots[{sketch.type, sketch.index}];
        slot.pods.push_back(make_pod(sketch));
        slot.service = make_service(sketch.type, sketch.index);
    }
    return dependents;
}

const std::vector<PodSketch> kAllRunning = {{.type = "Master"}, {.index = 0}, {.index = 1}};

jobs::JobStatus status_after(const jobs::Job& job, const Dependents& dependents,
                             jobs::JobStatus status) {
    Plan made = plan(job, status, dependents, kNow);
    return made.status.value_or(status);
}

std::vector<std::string> summary(const jobs::JobStatus& status) {
    std::vector<std::string> lines;
    for (const jobs::JobCondition& condition : status.conditions)
        lines.push_back(condition.type + (condition.status == "True" ? "" : "=False"));
    return lines;
}

std::vector<std::string> names(const std::vector<Deletion>& deletions) {
    std::vector<std::string> result;
    for (const Deletion& deletion : deletions) result.push_back(deletion.name);
    return result;
}

std::vector<std::string> reasons(const Plan& plan) {
    std::vector<std::string> result;
    for (const JobEvent& event : plan.events) result.push_back(event.reason);
    return result;
}

}  // namespace muster::operators
