#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "jobs/kind.h"

namespace muster::jobs {

// How the commands of a job's containers reach our agent, for kinds whose jobs want agents
// (docs/design/elasticjob.md, "Our agent in a user's image").
//
// On a cluster a container gets a folder of ours, and muster-start before its command, which puts
// the folder first in PATH: whatever launcher the image calls, and from whichever script, is the
// agent. On one machine nodes have the program, and it is put into the command, where that calls a
// launcher.

/// What becomes of a command that calls no launcher, as far as it can be seen.
enum class OtherPrograms : std::uint8_t {
    kAsTheyAre,  ///< they run, and a launcher that they may call is the agent
    kAsWorkers,  ///< a Python that runs a script is a worker of an agent, and on one machine any
};

/// Whether the platform has the agent to give, and the job does not want that of its image
/// (annotations::kAgent).
bool can_get_agent(const Job& job);
/// That annotation says so.
bool wants_agent_of_image(const Job& job);

/// Gives the agent to a container of the pod. Does nothing where can_get_agent() is false, to a
/// container without a command on a cluster, and where check_agent() refuses.
void give_agent(const Job& job, kube::Pod& pod, kube::Container& container, OtherPrograms others);

/// The default container of each replica of these types, if no agent can take the place of the
/// launcher that it calls. On a cluster there is none.
std::vector<Cause> check_agent(const Job& job, const std::vector<std::string>& types,
                               OtherPrograms others);

/// The same, if the agent does not reach it for another reason: its image's own entry point runs. Not
/// where the program of a node is put into commands; a platform that is unknown counts as a cluster.
std::vector<Cause> not_reached_by_agent(const Job& job, const std::vector<std::string>& types);

/// What a job does without that runs the launcher of its image, for a warning.
inline constexpr std::string_view kMissingWithoutAgent =
    "the launcher of the image runs: a failed worker restarts with the whole world, a node that is "
    "lost ends it, and steps, hangs and slow nodes are not seen";

}  // namespace muster::jobs
