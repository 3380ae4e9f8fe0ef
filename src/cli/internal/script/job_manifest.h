#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <string>

#include "cli/internal/script/job_request.h"
#include "kube/values/json.h"

namespace muster::cli {

/// Why no job can be made of it, with what to do instead; nullopt: one can. Pure.
std::optional<std::string> impossible(const JobRequest& request);

/// The manifest of the job, for a request that is possible. PyTorch's scripts are started by muster-run. Pure.
json::object job_manifest(const JobRequest& request);

/// The same as YAML, with a comment at what people change first. Pure.
std::string commented_manifest(const json::object& manifest);

/// A valid name of a job from the name of a script or program: "train-v2" from "src/Train_v2.py".
std::string job_name_from(std::string_view program);

}  // namespace muster::cli
