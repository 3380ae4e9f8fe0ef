#pragma once

#include <string>
#include <string_view>

#include "jobs/job.h"
#include "kube/objects/pod.h"
#include "kube/values/json.h"

namespace muster::jobs {

// Our program in a user's pods, for jobs that need it: from a file on the nodes, or from the
// operator's own image, by an init container or by a volume of that image.

/// The name of the volume, and of the init container.
inline constexpr std::string_view kProgramVolume = "muster";
/// Where the operator's image has the program that runs in any other image.
inline constexpr std::string_view kProgramInImage = "/usr/local/bin/muster-in-pods";
inline constexpr std::string_view kProgramDirectory = "/opt/muster";
/// Where the operator's image has what is copied there for agents.
inline constexpr std::string_view kAgentFolderInImage = "/opt/muster";
/// Where pods have it, except those that mount the whole image there.
inline constexpr std::string_view kProgramInPods = "/opt/muster/muster";

/// How containers to which add_program() gave it call it; elsewhere "muster", which an image may
/// have.
std::string program_in_pods(const Platform& platform);
/// Does nothing if the platform has no program to give. `container` is one of the pod's.
void add_program(const Platform& platform, kube::Pod& pod, kube::Container& container);

/// The security context of a container whose program is ours alone: at least what a namespace that
/// enforces the profile `restricted` requires.
json::object least_rights();

/// The folder from which commands reach our agent, with the program in it
/// (pod_tools/agent_folder.h), in containers to which add_agent_folder() gave it.
std::string agent_folder_in_pods(const Platform& platform);
/// Only for a platform with an image that has the folder. `container` is one of the pod's, of which
/// several may get it.
void add_agent_folder(const Platform& platform, kube::Pod& pod, kube::Container& container);

}  // namespace muster::jobs
