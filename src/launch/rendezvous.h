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

/// Where the job's master is, and so where the nodes meet.
struct Rendezvous {
    enum class Where : std::uint8_t {
        kHere,       ///< one node: the master is beside its agent, and nobody else reaches it
        kEndpoints,  ///< beside the agent of one of these nodes; the next one takes over
        kElsewhere,  ///< at that one place, whoever started it
    };
    enum class Host : std::uint8_t {
        kByAddress,  ///< the node whose endpoint it is: hosted_here()
        kThisNode,   ///< this one has the first endpoint
        kOtherNode,  ///< this one has none
    };

    Where where = Where::kHere;
    std::vector<Endpoint> endpoints = {};  ///< in the order in which they take over
    Host host = Host::kByAddress;          ///< of kEndpoints
    std::optional<int> slot = {};          ///< of this node; none: the master gives it one
    std::optional<int> nodes = {};  ///< how many there are, if whoever injected the rest said so
    std::optional<std::uint16_t> store_port = {};  ///< of the workers' store; none: any
    std::string decided_by = {};                   ///< the flag or variable, for people
};

/// From flags and, where they say nothing, from what operators inject. The first that holds:
///
/// | said | then |
/// |---|---|
/// | --standalone | here |
/// | called dlrover-run: DLROVER_MASTER_ADDR | there, see below |
/// | --rdzv-endpoint | these endpoints |
/// | --node-rank, --master-addr or --master-port, static backend | --master-addr:--master-port, by
/// rank | | DLROVER_MASTER_ADDR | there; if it is MASTER_ADDR:MASTER_PORT, with the node of rank 0
/// | | MASTER_ADDR, RANK, WORLD_SIZE, no LOCAL_RANK, not called torchrun | MASTER_ADDR:MASTER_PORT,
/// by rank | | one node | here |
///
/// With one node at most, all but DLROVER_MASTER_ADDR means here. `nodes` is what --nnodes says, if
/// anybody did. The variables of the last rows but one are what training-operator and DLRover
/// inject (training-operator pkg/controller.v1/pytorch/envvar.go; DLRover's usage in a PyTorchJob,
/// NODE_RANK=$RANK DLROVER_MASTER_ADDR=$MASTER_ADDR:$MASTER_PORT); a torchrun of one node starts
/// without looking at them, and so do we under that name.
///
/// kInvalid: several nodes and no place to meet, a place that is none, a backend that is not here.
Result<Rendezvous> find_rendezvous(const LaunchFlags& flags, const Variables& variables,
                                   std::optional<NodeRange> nodes, const RendezvousConf& conf,
                                   std::vector<LaunchNotice>& notices);

/// Which endpoints this node may listen at, by their place in the list. `looked_up`: addresses by
/// host name. Several of one machine are all named: whoever can listen at one has it.
std::vector<std::size_t> hosted_here(
    const Rendezvous& rendezvous, const NodeNames& node,
    const std::map<std::string, std::vector<std::string>>& looked_up);

}  // namespace muster::launch
