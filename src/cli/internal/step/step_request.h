#pragma once

#include <boost/json/array.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/internal/step/gpu_text.h"
#include "cli/internal/step/selector_text.h"
#include "cli/internal/step/step_kinds.h"
#include "cli/internal/step/volume_text.h"
#include "kube/client_config/server_url.h"

namespace muster::cli {

/// Where the pods of one job should be with respect to each other.
enum class Topology { kAnywhere, kSpread, kPack };

/// CPU or memory of each pod, as quantities; empty: not said.
struct Size {
    std::string request;
    std::string limit;
};

/// What becomes of a job that has ended.
enum class AtEnd { kKeep, kDelete, kDeleteIfSucceeded };

/// How long a step waits for what.
struct StepLimits {
    using Time = std::chrono::nanoseconds;
    std::optional<Time> timeout;       ///< of the whole step; unset: none
    std::optional<Time> stuck_after;   ///< a job that can't run; unset: it is only told
    std::optional<Time> silent_after;  ///< a job that writes nothing; unset: it is only told
    Time away_after = std::chrono::minutes(10);      ///< an API server that does not answer
    Time stop_timeout = std::chrono::seconds(25);    ///< for pods to go; a pod's own grace is 30 s
    Time replace_timeout = std::chrono::minutes(5);  ///< for an earlier job to go
};

/// A job that a step of a pipeline asks for, complete and checked.
struct StepRequest {
    const StepKind* kind = nullptr;
    std::string namespace_;  ///< empty: the connection's
    std::string name;
    std::string run_id;   ///< empty: unknown, so nothing is replaced
    std::string task_id;  ///< likewise
    std::map<std::string, std::string> job_labels;
    std::map<std::string, std::string> pod_labels;
    std::map<std::string, std::string> annotations;  ///< of both

    std::string command;  ///< for a shell, as it was written
    std::string working_dir;
    std::string image;
    std::string pull_policy;
    std::vector<std::string> pull_secrets;
    int workers = 1;  ///< a master among them
    int servers = 0;
    int processes_per_worker = 1;  ///< of MPI

    Size cpu;
    Size memory;
    GpuRequest gpu;
    std::map<std::string, std::string> other_resources;
    std::string rdma_resource;
    int rdma_devices = 0;
    std::vector<std::pair<std::string, std::string>> env;
    VolumePlan volumes;

    NodeChoice nodes;
    json::array tolerations;
    std::string scheduler;
    std::string priority_class;
    Topology topology = Topology::kSpread;
    bool gang = false;
    std::string queue;
    bool host_network = false;
    std::string networks;  ///< of Multus

    std::string restart_policy;
    std::string clean_pod_policy;
    int backoff_limit = 0;
    std::optional<std::int64_t> deadline_seconds;
    std::optional<std::int64_t> ttl_seconds;

    AtEnd at_end = AtEnd::kKeep;
    StepLimits limits;
    std::optional<kube::ServerUrl> push_metrics;  ///< to this Pushgateway

    int pods() const {
        const bool one_more = kind->shape == Shape::kLauncher || kind->shape == Shape::kScheduler;
        return workers + servers + (one_more ? 1 : 0);
    }
};

}  // namespace muster::cli
