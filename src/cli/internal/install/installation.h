#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "kube/values/json.h"

namespace muster::cli {

/// The settings of `muster operator` on a cluster. The values may be expressions of a chart, which
/// are always texts; the generated objects have the same form.
struct Installation {
    std::string namespace_ = "kubeflow";  ///< where the operator itself is
    std::string watched = {};             ///< the only namespace whose jobs it runs; empty: all
    json::value image = {};
    json::value replicas = 2;
    bool admission_policies = true;
    /// MPIJobs are run, too, for which the operator needs all Secrets, for instance.
    bool mpi = false;
    /// Agents of elastic jobs get a token, for which the operator may read and make Secrets.
    bool agent_tokens = false;
};

/// Objects that belong together, and the name of their file in a layout.
struct Part {
    std::string name;
    std::vector<json::value> objects;
};

/// The definitions of all jobs: cluster-wide, and the same for every installation.
Part job_definitions();
/// Everything else, in an order in which it can be applied.
std::vector<Part> parts_of(const Installation& installation);

// The parts, one each.

json::value namespace_object(const Installation& installation);
Part operator_access(const Installation& installation);
/// What it may do for MPIJobs alone.
Part mpi_access(const Installation& installation);
/// What it may do for the tokens of agents alone.
Part token_access(const Installation& installation);
/// What may connect to it.
Part network_policy(const Installation& installation);
/// Roles for users, which add jobs to what they may already view and edit.
Part user_roles();
Part admission_policies(const Installation& installation);
Part workload(const Installation& installation);

/// Labels of everything that is installed.
json::object common_labels();
/// Labels of the operator's pods, which Deployment, Service and budget select.
json::object pod_labels();

inline constexpr std::string_view kOperatorName = "muster-operator";
/// Name of the Lease for the leader election, unless --leader-election-id gives another.
inline constexpr std::string_view kLeaseName = "muster-operator.kubeflow.org";

}  // namespace muster::cli
