#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/internal/install/installation.h"

namespace muster::cli {

/// Texts by their path below the folder of a layout.
using Files = std::map<std::string, std::string>;

/// Objects as a stream of YAML documents.
std::string yaml_stream(const std::vector<json::value>& objects);
/// The first line of all generated files: where they come from.
extern const std::string_view kOrigin;
/// The definitions of all jobs, one in each file, in crds/.
Files definition_files();

/// A Helm chart. The parts of the installation that its users choose are values, with the defaults
/// given here: image, replicas, the watched namespace, policies.
Files helm_chart(const Installation& installation, std::string_view version);

/// base/: this installation, for all namespaces. overlays/namespaced/: the same for jobs of the
/// operator's own namespace only. components/mpi/ and components/mpi-namespaced/ add MPIJobs to
/// either, components/agent-tokens/ and components/agent-tokens-namespaced/ tokens of agents.
Files kustomization(const Installation& installation);

}  // namespace muster::cli
