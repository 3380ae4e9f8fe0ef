#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "job_protocol/world.h"
#include "launch/endpoint.h"
#include "launch/plan.h"
#include "launch/worker_start.h"

namespace muster::launch {

/// What the workers of one world on one node share.
struct WorkerSetting {
    const LaunchPlan& plan;
    const job_protocol::World& world;
    job_protocol::Slot slot = 0;  ///< of this node, which is a member of the world
    /// On the node of group rank 0, for all workers of the world.
    Endpoint store;
    std::string job_dir = {};  ///< for files of this job only
};

/// Everything that a worker is started with: the agent's own environment, and over it
///
/// - torch's variables, as its LocalElasticAgent sets them (torch/distributed/elastic/agent/server/
///   local_elastic_agent.py). TORCHELASTIC_USE_AGENT_STORE is True, so every worker is a client of
///   our store. TORCHELASTIC_RESTART_COUNT is the world's restart count, which is the same on all
///   nodes and differs for each attempt: torch prefixes the store's keys with it. It also counts
///   changes of the world, so it may exceed TORCHELASTIC_MAX_RESTARTS. MASTER_ADDR has no brackets,
///   even with IPv6; a store on this machine is at localhost.
/// - DLRover's variables, except that ROLE_NAME is --role and not dlrover-trainer: that name makes
///   its package look for an agent's checkpoint sockets. Its two files are under job_dir, because
///   in /tmp/dlrover two jobs on one machine overwrite each other's.
/// - OMP_NUM_THREADS=1 if the node has several workers, and NCCL's error handling on under both of
///   its names; values that are already set are kept.
/// - MUSTER_GENERATION ("2.7"), MUSTER_SLOT, MUSTER_HOOK ("1" or "0").
///
/// The files of a single worker are added when it is started (local/local_workers.h).
///
/// kInvalid: --virtual-local-rank with more workers than devices in CUDA_VISIBLE_DEVICES.
Result<WorkerStart> worker_start(const WorkerSetting& setting, int local_rank,
                                 const Variables& base);

}  // namespace muster::launch
