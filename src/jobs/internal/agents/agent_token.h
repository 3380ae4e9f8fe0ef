#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobs/kind.h"

namespace muster::jobs {

// The token that the agents (`muster-run`) in the pods of a job share, so that nothing else can join
// them. It is in a Secret of the job, made before its first pod; the containers that run an agent
// have it as a variable. Only where the platform says so (Platform::agent_tokens).

/// The job's containers that run an agent are those whose commands name `muster-run`, also in the
/// text of a shell, and with the annotation kAgent the default one of each pod. One that has a token
/// of its own (MUSTER_TOKEN, MUSTER_TOKEN_FILE, --token-file) needs none.
bool has_agent_token(const Job& job);

/// The Secret; nothing if no container gets the token.
std::vector<OwnedObject> agent_token(const Job& job, const std::vector<SeenPod>& running);

/// The variable, in each container that runs an agent.
void add_agent_token(const Job& job, const ReplicaId& replica, kube::Pod& pod);

/// A container's own token, if a variable of its own has it.
std::optional<kube::EnvVar> own_token(const kube::Container& container);
/// Whether it reads its own token from a file.
bool has_token_file(const kube::Container& container);

/// The annotation kAgent, if its value has no meaning.
std::optional<Cause> ineffective_agent(const Job& job);

}  // namespace muster::jobs
