#include "cli/internal/script/job_manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <string_view>

#include "cli/internal/script/start_command.h"
#include "manifest/literal_text.h"
#include "manifest/yaml/yaml_writer.h"

namespace muster::cli {

namespace {

/// What stands for an image on this machine, where nothing is pulled.
constexpr std::string_view kThisMachine = "this-machine";

/// What the kind of a framework calls its parts.
struct Shape {
    std::string_view kind;
    std::string_view api_version;
    std::string_view replicas_field;
    std::string_view container;
};

Shape shape_of(Framework framework) {
    constexpr std::string_view kV1 = "kubeflow.org/v1";
    switch (framework) {
        case Framework::kPyTorch:
        case Framework::kDeepSpeed:
            return {"PyTorchJob", kV1, "pytorchReplicaSpecs", "pytorch"};
        case Framework::kTensorFlow:
            return {"TFJob", kV1, "tfReplicaSpecs", "tensorflow"};
        case Framework::kJax:
            return {"JAXJob", kV1, "jaxReplicaSpecs", "jax"};
        case Framework::kMpi:
        case Framework::kHorovod:
            return {"MPIJob", "kubeflow.org/v2beta1", "mpiReplicaSpecs", "mpi"};
        case Framework::kXgboost:
            return {"XGBoostJob", kV1, "xgbReplicaSpecs", "xgboost"};
        case Framework::kPaddle:
            return {"PaddleJob", kV1, "paddleReplicaSpecs", "paddle"};
        case Framework::kMxnet:
            return {"MXJob", kV1, "mxReplicaSpecs", "mxnet"};
    }
    return {};
}

bool is_pytorch(const JobRequest& request) {
    return request.framework == Framework::kPyTorch || request.framework == Framework::kDeepSpeed;
}
bool is_mpi(const JobRequest& request) {
    return request.framework == Framework::kMpi || request.framework == Framework::kHorovod;
}

json::object labels_of(const JobRequest& request) {
    json::object labels;
    for (const auto& [name, value] : request.labels) labels[name] = value;
    return labels;
}

json::object resources_of(const JobRequest& request) {
    json::object requests;
    json::object limits;
    if (!request.cpus.empty()) requests["cpu"] = request.cpus;
    if (!request.memory.empty()) requests["memory"] = limits["memory"] = request.memory;
    if (request.gpus > 0)
        requests[request.gpu_resource] = limits[request.gpu_resource] = request.gpus;
    json::object resources;
    if (!requests.empty()) resources["requests"] = std::move(requests);
    if (!limits.empty()) resources["limits"] = std::move(limits);
    return resources;
}

/// A pod template with one container. `command`: empty for one that only waits to be called.
json::object pod_template(const JobRequest& request, const std::vector<std::string>& command,
                          bool trains) {
    json::object container;
    container["name"] = shape_of(request.framework).container;
    container["image"] = request.image.empty() ? kThisMachine : std::string_view(request.image);
    json::array words;
    for (const std::string& word : command) words.emplace_back(manifest::literal_text(word));
    if (!words.empty()) container["command"] = std::move(words);
    if (!request.workdir.empty()) container["workingDir"] = request.workdir;
    json::array env;
    for (const auto& [name, value] : request.env) env.push_back({{"name", name}, {"value", value}});
    if (!env.empty()) container["env"] = std::move(env);
    if (json::object resources = resources_of(request); trains && !resources.empty())
        container["resources"] = std::move(resources);
    json::object spec;
    if (!request.priority.empty()) spec["priorityClassName"] = request.priority;
    spec["containers"] = json::array{std::move(container)};
    json::object pod;
    if (!request.labels.empty()) pod["metadata"] = json::object{{"labels", labels_of(request)}};
    pod["spec"] = std::move(spec);
    return pod;
}

/// A worker's agent restarts what fails inside of its pod. The pod itself is made again when a
/// signal ended it, as the loss of a node or of memory does.
std::string_view restart_policy(const JobRequest& request) {
    if (request.max_restarts == 0) return "Never";
    return is_pytorch(request) ? "ExitCode" : "OnFailure";
}

json::object replicas(const JobRequest& request, std::int32_t count, bool trains = true) {
    return {{"replicas", count},
            {"restartPolicy", restart_policy(request)},
            {"template", pod_template(request, start_command(request), trains)}};
}

/// One process leads, and is the first worker.
json::object master_and_workers(const JobRequest& request) {
    json::object specs{{"Master", replicas(request, 1)}};
    if (request.workers > 1) specs["Worker"] = replicas(request, request.workers - 1);
    return specs;
}

json::object launcher_and_workers(const JobRequest& request) {
    return {{"Launcher", replicas(request, 1, false)},
            {"Worker", json::object{{"replicas", request.workers},
                                    {"template", pod_template(request, {}, true)}}}};
}

json::object replica_specs(const JobRequest& request) {
    switch (request.framework) {
        case Framework::kPyTorch:
        case Framework::kDeepSpeed:
            if (request.least) return {{"Worker", replicas(request, request.workers)}};
            return master_and_workers(request);
        case Framework::kXgboost:
            return master_and_workers(request);
        case Framework::kMpi:
        case Framework::kHorovod:
            return launcher_and_workers(request);
        case Framework::kTensorFlow: {
            if (request.servers == 0) return {{"Worker", replicas(request, request.workers)}};
            json::object specs{{"Chief", replicas(request, 1)},
                               {"PS", replicas(request, request.servers, false)}};
            if (request.workers > 1) specs["Worker"] = replicas(request, request.workers - 1);
            return specs;
        }
        case Framework::kMxnet:
            return {{"Scheduler", replicas(request, 1, false)},
                    {"Server", replicas(request, std::max(request.servers, 1), false)},
                    {"Worker", replicas(request, request.workers)}};
        case Framework::kJax:
        case Framework::kPaddle:
            break;
    }
    return {{"Worker", replicas(request, request.workers)}};
}

json::object run_policy(const JobRequest& request) {
    json::object policy;
    const bool servers = request.servers > 0 || request.framework == Framework::kMxnet;
    // Servers never end by themselves, nor do workers that mpirun calls.
    if (servers || is_mpi(request)) policy["cleanPodPolicy"] = "Running";
    // Without one an MPIJob has the limit of a batch Job, which is 6.
    if (request.max_restarts > 0 || is_mpi(request)) policy["backoffLimit"] = request.max_restarts;
    if (request.deadline) policy["activeDeadlineSeconds"] = *request.deadline;
    if (!request.priority.empty())
        policy["schedulingPolicy"] = json::object{{"priorityClass", request.priority}};
    return policy;
}

json::object elastic_policy(const JobRequest& request) {
    json::object policy{
        {"minReplicas", *request.least}, {"maxReplicas", request.workers}, {"rdzvBackend", "c10d"}};
    if (request.max_restarts > 0) policy["maxRestarts"] = request.max_restarts;
    return policy;
}

struct Comment {
    std::string_view field;
    std::string_view text;
};
/// At the first line of each.
constexpr Comment kComments[] = {
    {"nprocPerNode:", "processes of each pod; auto: one for each GPU, or else for each CPU"},
    {"backoffLimit:", "so many restarts of pods, then the job has failed"},
    {"activeDeadlineSeconds:", "then the job has failed"},
    {"minReplicas:", "it trains as soon as, and as long as, so many are there"},
    {"slotsPerWorker:", "processes of each worker"},
    {"replicas:", "muster run --replicas TYPE=N sets another number"},
    {"restartPolicy: ExitCode", "a pod that a signal ended is made again"},
    {"restartPolicy: OnFailure", "a pod that failed is started again"},
    {"restartPolicy: Never", "a pod that failed fails the job; else OnFailure or ExitCode"},
    {"image: this-machine",
     "on a cluster one that has the program and what it needs; here nothing is pulled"},
};

}  // namespace

std::optional<std::string> impossible(const JobRequest& request) {
    const std::string_view framework = name_of(request.framework);
    const bool many = request.processes != "1";
    if (request.least && !is_pytorch(request))
        return fmt::format(
            "--workers {}:{}: only PyTorch's jobs are elastic, and this one is for {}",
            *request.least, request.workers, framework);
    if (request.warm && !is_pytorch(request))
        return fmt::format("--warm: only PyTorch's workers leave spares, and this job is for {}",
                           framework);
    if (request.servers > 0 && request.framework != Framework::kTensorFlow &&
        request.framework != Framework::kMxnet)
        return fmt::format(
            "--servers: jobs of TensorFlow and MXNet have parameter servers, not those of {}",
            framework);
    if (many && is_mpi(request) &&
        request.processes.find_first_not_of("0123456789") != std::string::npos)
        return fmt::format("--nproc-per-node {}: mpirun wants a number of processes",
                           request.processes);
    if (many && !is_pytorch(request) && !is_mpi(request) && request.framework != Framework::kPaddle)
        return fmt::format(
            "--nproc-per-node {}: a worker of {} is one process with all of its devices; --workers "
            "says how many there are",
            request.processes, framework);
    if (many && is_pytorch(request) && torchrun_words(request.command) > 0)
        return fmt::format(
            "--nproc-per-node {}: {} has flags of its own; leave it out, as muster-run takes its "
            "place, or give it the flag",
            request.processes, request.command.front());
    return std::nullopt;
}

json::object job_manifest(const JobRequest& request) {
    const Shape shape = shape_of(request.framework);
    json::object metadata{{"name", request.name}};
    if (!request.labels.empty()) metadata["labels"] = labels_of(request);
    json::object spec;
    if (is_pytorch(request) && torchrun_words(request.command) == 0)
        spec["nprocPerNode"] = request.processes;
    if (is_mpi(request)) spec["slotsPerWorker"] = slots_of(request);
    if (request.framework == Framework::kMxnet) spec["jobMode"] = "MXTrain";
    if (request.framework == Framework::kTensorFlow && request.servers == 0 && request.workers > 1)
        spec["successPolicy"] = "AllWorkers";
    if (request.least) spec["elasticPolicy"] = elastic_policy(request);
    if (json::object policy = run_policy(request); !policy.empty())
        spec["runPolicy"] = std::move(policy);
    spec[shape.replicas_field] = replica_specs(request);
    return {{"apiVersion", shape.api_version},
            {"kind", shape.kind},
            {"metadata", std::move(metadata)},
            {"spec", std::move(spec)}};
}

std::string commented_manifest(const json::object& manifest) {
    const std::string yaml = manifest::to_yaml(manifest);
    std::vector<bool> written(std::size(kComments));
    std::string out;
    for (std::size_t begin = 0; begin < yaml.size();) {
        const std::size_t end = yaml.find('\n', begin);
        const std::string_view line = std::string_view(yaml).substr(begin, end - begin);
        out += line;
        const std::size_t text = line.find_first_not_of(" -");
        for (std::size_t i = 0; text != std::string_view::npos && i < written.size(); ++i) {
            if (written[i] || !line.substr(text).starts_with(kComments[i].field)) continue;
            written[i] = true;
            out += fmt::format("  # {}", kComments[i].text);
        }
        out += '\n';
        begin = end + 1;
    }
    return out;
}

std::string job_name_from(std::string_view program) {
    std::string_view file = program.substr(program.rfind('/') + 1);
    file = file.substr(0, file.find('.') == 0 ? std::string_view::npos : file.find('.'));
    // Pods are called NAME-worker-12, and all of it is a host name.
    constexpr std::size_t kLongest = 40;
    std::string name;
    for (const char c : file.substr(0, kLongest)) {
        const bool letter = c >= 'a' && c <= 'z';
        const bool capital = c >= 'A' && c <= 'Z';
        const bool digit = c >= '0' && c <= '9';
        if (capital)
            name += static_cast<char>(c - 'A' + 'a');
        else if (letter || (digit && !name.empty()))
            name += c;
        else if (!name.empty() && !name.ends_with('-'))
            name += '-';
    }
    while (name.ends_with('-')) name.pop_back();
    return name.empty() ? "job" : name;
}

}  // namespace muster::cli
