#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/endpoint.h"
#include "launch/flag_values.h"
#include "launch/flags.h"

namespace muster::launch {

/// Where the job's master runs, and so where the nodes meet.
struct Rendezvous {
    enum class Where : std::uint8_t {
        kHere,       ///< one node: the master is beside its agent and accepts no other node
        kEndpoints,  ///< beside the agent of one of these nodes; the next one takes over
        kElsewhere,  ///< at that one place, whoever started it
    };
    enum class Host : std::uint8_t {
        kByAddress,  ///< on the node that has the endpoint's address: hosted_here()
        kThisNode,   ///< this node has the first endpoint
        kOtherNode,  ///< this node has no endpoint
    };

    Where where = Where::kHere;
    std::vector<Endpoint> endpoints = {};  ///< in the order in which they take over
    Host host = Host::kByAddress;          ///< for kEndpoints
    std::optional<int> slot = {};          ///< of this node; nullopt: the master assigns one
    std::optional<int> nodes = {};         ///< number of nodes, if the injected variables say so
    /// For kElsewhere, if the operator says it: the job's name, by which its nodes know each other where
    /// they share no token.
    std::string job = {};
    std::optional<std::uint16_t> store_port = {};  ///< of the workers' store; nullopt: any
    std::string decided_by = {};  ///< the flag or variable that decided, for people
};

/// From flags and, where they are silent, from what operators inject. The first row that applies:
///
///     | given | then |
///     |---|---|
///     | --standalone | here |
///     | MUSTER_MASTER_ADDR | there, but see below |
///     | called dlrover-run: DLROVER_MASTER_ADDR | there, see below |
///     | --rdzv-endpoint | these endpoints |
///     | static backend: --node-rank, --master-addr, --master-port | that address, by rank |
///     | DLROVER_MASTER_ADDR | there; if it is MASTER_ADDR:MASTER_PORT, with the node of rank 0 |
///     | not torchrun: MASTER_ADDR, RANK, WORLD_SIZE, no LOCAL_RANK | that address, by rank |
///     | one node | here |
///
/// With at most one node, everything but MUSTER_MASTER_ADDR and DLROVER_MASTER_ADDR means here. `nodes`
/// is --nnodes, if it was given. MUSTER_MASTER_ADDR is what our operator says of a job whose manifest was
/// written for torchrun, so it goes before endpoints that name nodes of the job. It is not looked at if
/// the flag --nnodes makes each pod a job of its own, if nodes have a token or certificates in files, which
/// that master has not, and in a worker that names another place to meet.
/// The variables of rows six and seven are those that training-operator and DLRover
/// inject (training-operator pkg/controller.v1/pytorch/envvar.go; DLRover's usage in a PyTorchJob,
/// NODE_RANK=$RANK DLROVER_MASTER_ADDR=$MASTER_ADDR:$MASTER_PORT); a torchrun of one node ignores
/// them at start, and so do we under that name.
///
/// kInvalid: several nodes without a place to meet, an invalid place, or an unsupported backend.
Result<Rendezvous> find_rendezvous(const LaunchFlags& flags, const Variables& variables,
                                   std::optional<NodeRange> nodes, const RendezvousConf& conf,
                                   std::vector<LaunchNotice>& notices);

/// The endpoints that this node may listen at, as indices into the list. `looked_up`: addresses by
/// host name. If several endpoints are on one machine, all of them are returned: the first process
/// that can listen at one gets it.
std::vector<std::size_t> hosted_here(
    const Rendezvous& rendezvous, const NodeNames& node,
    const std::map<std::string, std::vector<std::string>>& looked_up);

}  // namespace muster::launch
