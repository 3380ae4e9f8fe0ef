#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "job_protocol/world.h"
#include "launch/endpoint.h"
#include "launch/plan.h"
#include "launch/worker_start.h"

namespace muster::launch {

/// What a world's workers on one node share.
struct WorkerSetting {
    const LaunchPlan& plan;
    const job_protocol::World& world;
    job_protocol::Slot slot = 0;  ///< of this node; a member of the world
    /// Of the agent of group rank 0, for all workers of the world.
    Endpoint store;
    std::string job_dir = {};  ///< where this job's own files are, and no other's
};

/// All that a worker is started with: the agent's own environment, and over it
///
/// - torch's variables, as its LocalElasticAgent sets them (torch/distributed/elastic/agent/server/
///   local_elastic_agent.py). TORCHELASTIC_USE_AGENT_STORE is True, so every worker is a client of
///   our store. TORCHELASTIC_RESTART_COUNT is the world's restarts, the same on all nodes and
///   another for each attempt: torch puts it before the store's keys. It also counts worlds that
///   changed, so it may be more than TORCHELASTIC_MAX_RESTARTS. MASTER_ADDR has no brackets, also
///   with IPv6; a store on this machine is at localhost.
/// - DLRover's, but ROLE_NAME is --role and not dlrover-trainer: that name makes its package look
///   for an agent's checkpoint sockets. Its two files are below job_dir, since in /tmp/dlrover two
///   jobs of a machine overwrite each other's.
/// - OMP_NUM_THREADS=1 where a node has several workers, and NCCL's error handling on under both of
///   its names; what is set already stays.
/// - MUSTER_GENERATION ("2.7"), MUSTER_SLOT, MUSTER_HOOK ("1" or "0").
///
/// Files of a worker's own are added by who starts it (local/local_workers.h).
///
/// kInvalid: --virtual-local-rank with more workers than CUDA_VISIBLE_DEVICES has.
Result<WorkerStart> worker_start(const WorkerSetting& setting, int local_rank,
                                 const Variables& base);

}  // namespace muster::launch
