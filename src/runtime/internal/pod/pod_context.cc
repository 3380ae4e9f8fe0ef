#include "runtime/internal/pod/pod_context.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <boost/json/serialize.hpp>

#include "runtime/internal/lifecycle/termination_message.h"
#include "runtime/internal/pod/container_plan.h"

namespace muster::runtime {

namespace {

int exit_code(int wait_status) {
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/// Hooks that can't be read keep the pod from starting (PodWorker::prepare_pod()).
std::vector<ContainerLifecycle> lifecycles_of(const kube::Pod& pod) {
    auto read = read_lifecycles(pod.spec);
    return read ? *std::move(read) : std::vector<ContainerLifecycle>();
}

kube::ObjectReference reference_to(const kube::Pod& pod) {
    kube::ObjectReference reference;
    reference.api_version = "v1";
    reference.kind = "Pod";
    reference.namespace_ = pod.metadata.namespace_;
    reference.name = pod.metadata.name;
    reference.uid = pod.metadata.uid;
    return reference;
}

}  // namespace

PodContext::PodContext(NodeContext& shared, std::shared_ptr<const kube::Pod> object)
    : node(shared),
      pod(std::move(object)),
      containers(pod),
      files(node.hosts, node.options.state_dir, node.options.logs_dir, *pod),
      isolation(node.isolation, pod, containers),
      tasks(node.executor),
      machine(*pod, lifecycles_of(*pod),
              format_address(
                  node.names.address(pod->metadata.namespace_, pod->metadata.name).value_or(0)),
              node.host_ip, now()),
      runs(machine.facts().containers.size()),
      execs(node.executor),
      out_of_memory(isolation, tasks, node.clock,
                    [this](std::size_t index) { record_out_of_memory(index); }) {}

std::string PodContext::container_id(std::uint32_t run) const {
    return fmt::format("muster://{}-{}", pod->metadata.uid, run);
}

void PodContext::record(kube::EventType type, std::string reason, std::string message) const {
    node.events.record(reference_to(*pod), type, std::move(reason), std::move(message));
}

void PodContext::record_out_of_memory(std::size_t index) const {
    const kube::Container& killed = container(index);
    kube::ObjectReference about = reference_to(*pod);
    about.field_path = fmt::format("spec.{}{{{}}}", containers.list(index), killed.name);
    std::string limit;
    if (const auto found = killed.resources.limits.find("memory");
        found != killed.resources.limits.end())
        limit = fmt::format(" (its limit is {})", found->second.is_string()
                                                      ? std::string(found->second.get_string())
                                                      : json::serialize(found->second));
    node.events.record(about, kube::EventType::kWarning, "OOMKilling",
                       fmt::format("The kernel killed processes of container {}, which was out of "
                                   "memory{}",
                                   killed.name, limit));
}

EnvironmentInput PodContext::environment() const {
    return {.pod = *pod,
            .config_maps = config_maps,
            .secrets = secrets,
            .base = node.options.environment,
            .hostname = hostname_of(*pod),
            .pod_ip = machine.facts().pod_ip,
            .host_ip = machine.facts().host_ip,
            .node_name = node.options.name,
            .node_cpu = node.cpu,
            .node_memory = node.memory,
            .addresses = {}};
}

ContainerEnd PodContext::end_of(std::size_t index, const ContainerRun& run,
                                const pod_init::Report& report) {
    const kube::Container& ended = container(index);
    ContainerEnd end;
    end.exit_code = exit_code(report.value);
    if (end.exit_code != 0 && out_of_memory.unexplained_kill(report.id))
        record(kube::EventType::kWarning, "SystemOOM",
               fmt::format("The kernel killed processes on this machine for lack of memory while "
                           "container {} ran, which has failed. Whether they were its own is not "
                           "known without cgroups",
                           ended.name));
    out_of_memory.end(report.id);
    // If the main process survived the killing of another, and its status says so, believe it.
    if (isolation.leave(report.id) && end.exit_code != 0) end.reason = "OOMKilled";
    const bool from_log =
        end.exit_code != 0 && ended.termination_message_policy == "FallbackToLogsOnError";
    end.message = read_termination_message(files.of_container(ended.name).termination_log,
                                           run.log()->path(), from_log);
    return end;
}

std::string PodContext::failure_of(const ContainerRun& run, const pod_init::Report& report) const {
    return describe_start_failure({report.stage, report.value, report.text}, run.start());
}

}  // namespace muster::runtime
