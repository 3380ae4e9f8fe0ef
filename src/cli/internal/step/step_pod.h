#pragma once

#include <boost/json/object.hpp>

#include "cli/internal/step/step_request.h"

namespace muster::cli {

/// What a replica of a step's job is.
enum class StepRole {
    kWorker,  ///< runs the command, with devices
    kServer,  ///< runs the command, without devices: parameter servers and schedulers
    kLaunch,  ///< starts the command in the workers
    kHost,    ///< waits for what a launcher starts, with devices
};

/// The template of a replica's pods. Pure.
json::object step_pod_template(const StepRequest& request, StepRole role);

}  // namespace muster::cli
