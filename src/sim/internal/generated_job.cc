#include "sim/internal/generated_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/object.hpp>
#include <string>

#include "base/check.h"
#include "jobs/kind.h"

namespace muster::sim {

Duration draw(const DurationRange& range, Rng& rng) {
    using std::chrono::milliseconds;
    const auto span = std::chrono::floor<milliseconds>(range.most - range.least).count();
    if (span <= 0) return range.least;
    return range.least + milliseconds(rng.below(static_cast<std::uint64_t>(span) + 1));
}

int draw(const std::pair<int, int>& range, Rng& rng) {
    return range.first +
           static_cast<int>(rng.below(static_cast<std::uint64_t>(range.second - range.first) + 1));
}

namespace {

const std::string& pick(const std::vector<std::string>& words, Rng& rng) {
    return words[rng.below(words.size())];
}

std::int64_t whole_seconds(Duration duration) {
    return std::chrono::floor<std::chrono::seconds>(duration).count();
}

json::object replica(const jobs::JobKind& kind, int replicas, const std::string& policy) {
    const std::string name = kind.container_name.empty() ? "main" : kind.container_name;
    return {
        {"replicas", replicas},
        {"restartPolicy", policy},
        {"template",
         {{"spec",
           {{"containers", json::array{json::object{{"name", name}, {"image", "training:1"}}}}}}}}};
}

/// A choice for each field that must say one of a few words, as a mode.
void choose_words(const jobs::JobKind& kind, json::object& spec, Rng& rng) {
    for (const std::string& field : kind.spec_schema->required) {
        const auto property = kind.spec_schema->properties.find(field);
        if (property == kind.spec_schema->properties.end()) continue;
        const std::vector<std::string>& words = property->second->enumeration;
        if (!words.empty()) spec[field] = pick(words, rng);
    }
}

json::object draw_replicas(const GeneratedJobs& jobs, const jobs::JobKind& kind, Rng& rng) {
    json::object replicas;
    for (const jobs::ReplicaType& type : kind.written_types()) {
        int count = 0;
        if (type.only_replicas)
            count = type.required ? *type.only_replicas : draw(jobs.masters, rng);
        else if (type.name == "Worker")
            count = draw(jobs.workers, rng);
        else
            count = draw({0, 2}, rng);
        if (count > 0) replicas[type.name] = replica(kind, count, pick(jobs.restart_policies, rng));
    }
    return replicas;
}

constexpr std::string_view kElasticJob = "ElasticJob";

const jobs::JobKind& kind_named(const std::string& name) {
    // Others of Kubeflow's versions may have keys in their Secrets, which no seed decides.
    const jobs::JobKind* kind = nullptr;
    for (const char* const version : {"kubeflow.org/v1", "elastic.iml.github.io/v1alpha1"})
        if (kind == nullptr) kind = jobs::find_kind(version, name);
    CHECK(kind != nullptr, "a scenario names kinds that there are");
    return *kind;
}

constexpr int kMostWorkers = 4;

/// Workers that run muster-run. The operator adds their master.
void add_agents(const GeneratedJobs& jobs, json::object& spec, Rng& rng) {
    const int workers = draw(jobs.workers, rng);
    const int least = std::min(draw(jobs.min_workers, rng), workers);
    // Of so many as there are by then, or of one of several numbers.
    const std::string nodes = rng.chance(jobs.node_num)
                                  ? "$(NODE_NUM)"
                                  : fmt::format("{}:{}", least, std::max(workers, kMostWorkers));
    json::array command{"muster-run", "--nnodes=" + nodes,
                        fmt::format("--nproc-per-node={}", draw({1, 2}, rng)),
                        fmt::format("--max-restarts={}", draw(jobs.max_restarts, rng)), "train.py"};
    json::object worker{
        {"replicas", workers},
        {"restartPolicy", pick(jobs.restart_policies, rng)},
        {"restartCount", draw(jobs.max_restarts, rng)},
        {"template",
         {{"spec",
           {{"containers",
             json::array{json::object{
                 {"name", "main"}, {"image", "training:1"}, {"command", std::move(command)}}}}}}}}};
    spec["distributionStrategy"] = "AllreduceStrategy";
    spec["replicaSpecs"] = {{"worker", std::move(worker)}};
}

/// Its pods run muster-run. The rest of its workers may be added later.
void make_elastic(const GeneratedJobs& jobs, json::object& spec, Rng& rng) {
    json::object& replicas = spec["pytorchReplicaSpecs"].get_object();
    replicas.erase("Master");
    json::value& worker = replicas["Worker"];
    worker.at("template").at("spec").at("containers").at(0).get_object()["command"] =
        json::array{"muster-run", "train.py"};
    const int workers = worker.at("replicas").to_number<int>();
    spec["nprocPerNode"] = std::to_string(draw({1, 2}, rng));
    spec["elasticPolicy"] = {{"minReplicas", std::min(draw(jobs.min_workers, rng), workers)},
                             {"maxReplicas", std::max(workers, kMostWorkers)},
                             {"maxRestarts", draw(jobs.max_restarts, rng)}};
}

}  // namespace

json::object generate_job(const GeneratedJobs& jobs, const std::string& name, Rng& rng) {
    json::object policy{{"cleanPodPolicy", pick(jobs.clean_pod_policies, rng)}};
    if (rng.chance(jobs.with_backoff_limit)) policy["backoffLimit"] = draw(jobs.backoff_limit, rng);
    if (rng.chance(jobs.with_deadline))
        policy["activeDeadlineSeconds"] = whole_seconds(draw(jobs.deadline, rng));
    if (rng.chance(jobs.with_ttl))
        policy["ttlSecondsAfterFinished"] = whole_seconds(draw(jobs.ttl, rng));
    if (rng.chance(jobs.suspended)) policy["suspend"] = true;
    json::object metadata{{"name", name}};
    if (rng.chance(jobs.group_restart))
        metadata["annotations"] = {{jobs::annotations::kRestart, jobs::annotations::kRestartGroup}};
    else if (jobs.replica_restart > 0 && rng.chance(jobs.replica_restart))
        metadata["annotations"] = {
            {jobs::annotations::kRestart, jobs::annotations::kRestartReplica}};

    const jobs::JobKind& kind = kind_named(pick(jobs.kinds, rng));
    json::object job{{"apiVersion", kind.resource.api_version()},
                     {"kind", kind.resource.kind},
                     {"metadata", std::move(metadata)},
                     {"spec", {{"runPolicy", std::move(policy)}}}};
    // Not every choice of types is a job: some replica must decide.
    json::object& spec = job["spec"].get_object();
    if (kind.resource.kind == kElasticJob) {
        add_agents(jobs, spec, rng);
        CHECK(jobs::load(kind, json::value(job)).has_value(), "such a job is valid");
        return job;
    }
    do {
        choose_words(kind, spec, rng);
        spec[kind.replicas_field] = draw_replicas(jobs, kind, rng);
        if (jobs.elastic > 0 && kind.resource.kind == "PyTorchJob" && rng.chance(jobs.elastic))
            make_elastic(jobs, spec, rng);
    } while (!jobs::load(kind, json::value(job)).has_value());
    return job;
}

}  // namespace muster::sim
