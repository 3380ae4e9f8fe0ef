#include "operator/internal/job_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
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
    if (sketch.backoff_limit) run_policy["backoffLimit"] = *sketch.backoff_limit;
    if (sketch.deadline_seconds) run_policy["activeDeadlineSeconds"] = *sketch.deadline_seconds;
    if (sketch.ttl_seconds) run_policy["ttlSecondsAfterFinished"] = *sketch.ttl_seconds;
    json::object metadata{{"name", sketch.name}, {"namespace", "default"}};
    if (sketch.group)
        metadata["annotations"] = json::object{{jobs::annotations::kRestart, "group"}};
    return {
        {"apiVersion", "kubeflow.org/v1"},
        {"kind", "PyTorchJob"},
        {"metadata", metadata},
        {"spec", json::object{{"runPolicy", run_policy}, {"pytorchReplicaSpecs", replicas}}},
    };
}

const jobs::JobKind& rising() {
    static const jobs::JobKind kind = [] {
        jobs::JobKind made = pytorch();
        made.resource = {.group = "rising.example.org",
                         .version = "v1",
                         .plural = "risingjobs",
                         .kind = "RisingJob"};
        made.rising_ids = true;
        made.environment = [](const jobs::Job&, const jobs::ReplicaId& replica) {
            const auto variable = [](std::string name, std::int32_t value) {
                jobs::Variable made_variable;
                made_variable.env.name = std::move(name);
                made_variable.env.value = std::to_string(value);
                made_variable.rule = "the replica";
                return made_variable;
            };
            return Result<std::vector<jobs::Variable>>(
                {variable("ID", replica.index), variable("RANK", replica.rank())});
        };
        return made;
    }();
    return kind;
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

JobRecord record_of(const jobs::Job& job) {
    JobRecord record;
    record.kind = job.kind;
    record.namespace_ = job.metadata.namespace_;
    record.name = job.metadata.name;
    record.uid = JobUid(job.metadata.uid);
    record.resource_version = job.metadata.resource_version;
    record.generation = 1;
    record.facts = std::make_shared<const JobFacts>(facts_of(job));
    return record;
}

namespace {

std::uint8_t type_of(const std::string& name) {
    const auto& types = pytorch().replica_types;
    return static_cast<std::uint8_t>(std::ranges::find(types, name, &jobs::ReplicaType::name) -
                                     types.begin());
}

void identify(const std::string& type, int index, DependentRecord& record) {
    record.namespace_ = "default";
    record.slot = {type_of(type), index};
    record.name = fmt::format("demo-{}-{}", pytorch().replica_type(type)->lower(), index);
    record.owner = {.kind = &pytorch(), .name = "demo", .uid = JobUid("job-uid")};
}

}  // namespace

PodPtr make_pod(const PodSketch& sketch) {
    auto pod = std::make_shared<PodRecord>();
    identify(sketch.type, sketch.index, *pod);
    pod->uid = sketch.uid.empty()
                   ? fmt::format("{}{}", pytorch().replica_type(sketch.type)->lower(), sketch.index)
                   : sketch.uid;
    pod->phase = sketch.phase;
    pod->deleting = sketch.deleting;
    pod->exit_code = pod->final_exit_code = sketch.exit_code;
    pod->exits = sketch.exit_code ? 1 : 0;
    pod->node_restarts = sketch.node_restarts;
    pod->restart_history = sketch.restart_history;
    pod->rank = sketch.index;
    pod->ready = sketch.ready;
    pod->created = sketch.created;
    pod->ended_at = sketch.ended_at;
    return pod;
}

ServicePtr make_service(const std::string& type, int index) {
    auto service = std::make_shared<ServiceRecord>();
    identify(type, index, *service);
    service->uid = service->name + "-service";
    return service;
}

Dependents make_dependents(const std::vector<PodSketch>& pods) {
    Dependents dependents;
    for (const PodSketch& sketch : pods) {
        const PodPtr pod = make_pod(sketch);
        const ServicePtr service = make_service(sketch.type, sketch.index);
        dependents.apply(nullptr, &pod);
        dependents.apply(nullptr, &service);
    }
    return dependents;
}

Plan plan(const jobs::Job& job, const jobs::JobStatus& status, Dependents& dependents, WallTime now,
          const Orphans& orphans) {
    const JobRecord record = record_of(job);
    dependents.configure(record.facts, status);
    return plan(record, status, dependents, orphans, now);
}

Plan plan(const jobs::Job& job, const jobs::JobStatus& status, Dependents&& dependents,
          WallTime now) {
    return plan(job, status, dependents, now);
}

const std::vector<PodSketch> kAllRunning = {{.type = "Master"}, {.index = 0}, {.index = 1}};

jobs::JobStatus status_after(const jobs::Job& job, Dependents& dependents, jobs::JobStatus status) {
    Plan made = plan(job, status, dependents, kNow);
    return made.status.value_or(status);
}

jobs::JobStatus status_after(const jobs::Job& job, Dependents&& dependents,
                             jobs::JobStatus status) {
    return status_after(job, dependents, std::move(status));
}

namespace {

template <class Creation>
std::vector<std::string> replicas_of(const std::vector<Creation>& creations) {
    std::vector<std::string> result;
    for (const Creation& creation : creations)
        result.push_back(fmt::format("{} {}", pytorch().replica_types[creation.slot.type].name,
                                     creation.slot.index));
    return result;
}

}  // namespace

std::vector<std::string> replicas(const std::vector<ServiceCreation>& creations) {
    return replicas_of(creations);
}

std::vector<std::string> replicas(const std::vector<PodCreation>& creations) {
    return replicas_of(creations);
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
