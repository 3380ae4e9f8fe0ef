#pragma once

#include <memory>
#include <string>

#include "base/async/task_group.h"
#include "kube/objects/pod.h"
#include "runtime/internal/files/pod_files.h"
#include "runtime/internal/lifecycle/pod_execs.h"
#include "runtime/internal/lifecycle/pod_machine.h"
#include "runtime/internal/limits/oom_watch.h"
#include "runtime/internal/limits/pod_isolation.h"
#include "runtime/internal/pod/container_env.h"
#include "runtime/internal/pod/container_runs.h"
#include "runtime/internal/pod/node_context.h"
#include "runtime/internal/pod_containers.h"
#include "runtime/internal/sandbox/sandbox.h"

namespace muster::runtime {

/// One pod as all parts of its worker see it. Outlives them. Thread: the loop.
struct PodContext {
    PodContext(NodeContext& node, std::shared_ptr<const kube::Pod> pod);

    PodMachine::Now now() const { return {node.clock.now(), node.clock.wall_now()}; }
    const std::string& name() const { return pod->metadata.name; }
    const std::string& namespace_() const { return pod->metadata.namespace_; }
    const kube::Container& container(std::size_t index) const { return containers.at(index); }
    std::string container_id(std::uint32_t run) const;
    void record(kube::EventType type, std::string reason, std::string message) const;
    /// The kernel has killed processes of the container because memory ran out.
    void record_out_of_memory(std::size_t index) const;
    EnvironmentInput environment() const;
    /// How an instance ended, by the report of its init; it leaves its cgroups.
    ContainerEnd end_of(std::size_t index, const ContainerRun& run, const pod_init::Report& report);
    /// The message for an instance that could not be started.
    std::string failure_of(const ContainerRun& run, const pod_init::Report& report) const;

    NodeContext& node;
    std::shared_ptr<const kube::Pod> pod;
    PodContainers containers;
    PodFiles files;
    PodIsolation isolation;
    TaskGroup tasks;
    PodMachine machine;
    /// As far as they were requested.
    KeyValueObjects config_maps;
    KeyValueObjects secrets;
    std::unique_ptr<PodSandbox> sandbox;
    ContainerRuns runs;
    PodExecs execs;
    OomWatch out_of_memory;
    bool stopping = false;  ///< nothing more begins
};

}  // namespace muster::runtime
