#pragma once

#include <string>

#include "cli/internal/connect/connection.h"
#include "kube/objects/resource_type.h"
#include "kube/values/json.h"

namespace muster::cli {

/// A job (or bare pod) of a server.
struct NamedJob {
    kube::ResourceType type;
    std::string namespace_;
    std::string name;
    std::string shown;  ///< "pytorchjob.kubeflow.org/digits"
    kube::ObjectPtr object;
};

/// JOB or KIND/JOB, as of ordinary verbs. kNotFound also names the runs of this machine.
Task<Result<NamedJob>> find_job(Connection& connection, std::string word);

}  // namespace muster::cli
