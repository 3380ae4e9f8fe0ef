#pragma once

#include <boost/json/value.hpp>

#include "cli/internal/step/step_request.h"
#include "manifest/check.h"

namespace muster::cli {

/// The job that the step asks for. Pure.
json::value step_job(const StepRequest& request);

/// The same, checked as a manifest is; `default_namespace` is for a request without one.
manifest::CheckResult checked_step_job(const StepRequest& request,
                                       const std::string& default_namespace);

}  // namespace muster::cli
