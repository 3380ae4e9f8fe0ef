#include "cli/internal/step/step_pod.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include "cli/internal/script/start_command.h"
#include "manifest/literal_text.h"

namespace muster::cli {

namespace {

constexpr std::string_view kHostName = "kubernetes.io/hostname";
constexpr int kTopologyWeight = 5;  ///< upstream's: a wish of little weight

json::object as_object(const std::map<std::string, std::string>& values) {
    json::object made;
    for (const auto& [key, value] : values) made[key] = value;
    return made;
}

bool has_devices(StepRole role) { return role == StepRole::kWorker || role == StepRole::kHost; }

json::object pod_resources(const StepRequest& request, bool devices) {
    json::object requests;
    json::object limits;
    const auto put = [&](std::string_view name, const std::string& least, const std::string& most) {
        if (!least.empty()) requests[name] = least;
        if (!most.empty()) limits[name] = most;
    };
    put("cpu", request.cpu.request, request.cpu.limit);
    put("memory", request.memory.request, request.memory.limit);
    for (const auto& [name, quantity] : request.other_resources) put(name, quantity, quantity);
    const auto device = [&](std::string_view name, std::int64_t count) {
        const std::string text = fmt::format("{}", count);
        put(name, text, text);
    };
    if (devices)
        for (const auto& [name, count] : request.gpu.resources) device(name, count);
    if (devices && request.rdma_devices > 0) device(request.rdma_resource, request.rdma_devices);
    json::object made;
    if (!requests.empty()) made["requests"] = std::move(requests);
    if (!limits.empty()) made["limits"] = std::move(limits);
    return made;
}

/// RDMA pins memory, and a device that is not reserved is reached as the node reaches it.
json::object pod_security(const StepRequest& request, bool devices) {
    json::object made;
    if (devices && request.gpu.mode == GpuRequest::Mode::kShared) made["privileged"] = true;
    if (devices && request.rdma_devices > 0)
        made["capabilities"] = json::object{{"add", json::array{"IPC_LOCK"}}};
    return made;
}

/// A launcher's devices are hidden by the operator.
json::array pod_environment(const StepRequest& request, StepRole role) {
    constexpr std::string_view kVisible = "NVIDIA_VISIBLE_DEVICES";
    json::array made;
    for (const auto& [name, value] : request.env)
        if (name != kVisible || has_devices(role))
            made.emplace_back(json::object{{"name", name}, {"value", value}});
    if (role == StepRole::kServer)
        made.emplace_back(json::object{{"name", kVisible}, {"value", "none"}});
    return made;
}

/// A program that was started by mpirun gets the variables of its container's environment only if
/// they are named.
json::array launch_words(const StepRequest& request) {
    json::array words = {"mpirun",
                         "-np",
                         fmt::format("{}", request.workers * request.processes_per_worker),
                         "--allow-run-as-root",
                         "-bind-to",
                         "none",
                         "-map-by",
                         "slot",
                         "-x",
                         "LD_LIBRARY_PATH",
                         "-x",
                         "PATH"};
    for (const auto& [name, value] : request.env) {
        if (name == "NVIDIA_VISIBLE_DEVICES") continue;
        words.emplace_back("-x");
        words.emplace_back(name);
    }
    if (request.rdma_devices == 0)
        for (const char* word : {"-mca", "pml", "ob1", "-mca", "btl", "^openib"})
            words.emplace_back(word);
    return words;
}

/// Whether the command starts the ranks itself.
bool launches_itself(std::string_view command) {
    const std::size_t first = command.find_first_not_of(" \t\r\n");
    if (first == command.npos) return false;
    command.remove_prefix(first);
    const std::string_view program = command.substr(0, command.find_first_of(" \t\r\n"));
    return is_mpirun(program);
}

/// The command is one word behind a shell's -c, so nothing in it is split or expanded on the way.
json::array command_words(const StepRequest& request, StepRole role) {
    json::array words;
    if (role == StepRole::kHost) return words;
    if (role == StepRole::kLaunch && !launches_itself(request.command))
        words = launch_words(request);
    words.emplace_back("bash");
    words.emplace_back("-c");
    words.emplace_back(manifest::literal_text(request.command));
    return words;
}

json::object step_container(const StepRequest& request, StepRole role) {
    const bool devices = has_devices(role);
    json::object made = {{"name", request.kind->container},
                         {"image", request.image},
                         {"imagePullPolicy", request.pull_policy}};
    if (!request.working_dir.empty()) made["workingDir"] = request.working_dir;
    if (json::array words = command_words(request, role); !words.empty())
        made["command"] = std::move(words);
    made["env"] = pod_environment(request, role);
    if (!request.volumes.mounts.empty()) made["volumeMounts"] = request.volumes.mounts;
    if (json::object sizes = pod_resources(request, devices); !sizes.empty())
        made["resources"] = std::move(sizes);
    if (json::object context = pod_security(request, devices); !context.empty())
        made["securityContext"] = std::move(context);
    return made;
}

json::object pod_affinity(const StepRequest& request) {
    json::object made;
    if (!request.nodes.one_of.empty()) {
        json::array expressions;
        for (const auto& [key, values] : request.nodes.one_of)
            expressions.emplace_back(
                json::object{{"key", key},
                             {"operator", "In"},
                             {"values", json::array(values.begin(), values.end())}});
        made["nodeAffinity"] = json::object{
            {"requiredDuringSchedulingIgnoredDuringExecution",
             {{"nodeSelectorTerms",
               json::array{json::object{{"matchExpressions", std::move(expressions)}}}}}}};
    }
    if (request.topology == Topology::kAnywhere) return made;
    json::object term = {
        {"weight", kTopologyWeight},
        {"podAffinityTerm",
         {{"topologyKey", kHostName},
          {"labelSelector",
           {{"matchLabels", {{"component", request.name}, {"type", request.kind->type}}}}}}}};
    made[request.topology == Topology::kPack ? "podAffinity" : "podAntiAffinity"] = json::object{
        {"preferredDuringSchedulingIgnoredDuringExecution", json::array{std::move(term)}}};
    return made;
}

void put_placement(const StepRequest& request, json::object& spec) {
    if (!request.nodes.labels.empty()) spec["nodeSelector"] = as_object(request.nodes.labels);
    if (json::object wishes = pod_affinity(request); !wishes.empty())
        spec["affinity"] = std::move(wishes);
    if (!request.tolerations.empty()) spec["tolerations"] = request.tolerations;
    if (!request.scheduler.empty() && request.scheduler != "default-scheduler")
        spec["schedulerName"] = request.scheduler;
    if (!request.priority_class.empty()) spec["priorityClassName"] = request.priority_class;
    if (request.host_network) {
        spec["hostNetwork"] = true;
        spec["dnsPolicy"] = "ClusterFirstWithHostNet";
    }
}

}  // namespace

json::object step_pod_template(const StepRequest& request, StepRole role) {
    json::object metadata = {{"labels", as_object(request.pod_labels)}};
    json::object annotations = as_object(request.annotations);
    if (!request.networks.empty()) annotations["k8s.v1.cni.cncf.io/networks"] = request.networks;
    if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
    json::object spec;
    spec["containers"] = json::array{step_container(request, role)};
    if (!request.volumes.volumes.empty()) spec["volumes"] = request.volumes.volumes;
    json::array secrets;
    for (const std::string& secret : request.pull_secrets)
        secrets.emplace_back(json::object{{"name", secret}});
    if (!secrets.empty()) spec["imagePullSecrets"] = std::move(secrets);
    put_placement(request, spec);
    return {{"metadata", std::move(metadata)}, {"spec", std::move(spec)}};
}

}  // namespace muster::cli
